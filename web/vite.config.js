import { defineConfig } from "vite";

// Three files with fixed names: the program embeds them, and a fresh build must equal the committed one.
export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      output: { entryFileNames: "app.js", assetFileNames: "app[extname]", codeSplitting: false },
    },
  },
  // `npm run dev` beside a running `partwise serve`.
  server: { proxy: { "/api": "http://127.0.0.1:8790" } },
});

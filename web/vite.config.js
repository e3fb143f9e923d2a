import { defineConfig } from "vite";

// Three files with fixed names: the program embeds them, and a fresh build must equal the committed one.
export default defineConfig({
  base: "./",
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rollupOptions: {
      output: { entryFileNames: "app.js", assetFileNames: "app[extname]", inlineDynamicImports: true },
    },
  },
  // `npm run dev` beside a running `partwise serve`.
  server: { proxy: { "/api": "http://127.0.0.1:8790" } },
});

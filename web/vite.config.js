import { readFileSync } from "node:fs";
import { defineConfig } from "vite";

// Preact's licence goes where its code goes; the minifier would drop it.
const licence = {
  name: "licence",
  generateBundle(_, bundle) {
    const words = readFileSync(new URL("node_modules/preact/LICENSE", import.meta.url), "utf8");
    bundle["app.js"].code = `/*! Contains Preact.\n${words.trim()}\n*/\n${bundle["app.js"].code}`;
  },
};

// Three files with fixed names: the program embeds them, and a fresh build must equal the committed one.
export default defineConfig({
  base: "./",
  plugins: [licence],
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

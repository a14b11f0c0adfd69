// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

export default defineConfig({
    plugins: [viteSingleFile()],
    build: { target: "es2020", outDir: "dist", emptyOutDir: true, cssMinify: true },
});

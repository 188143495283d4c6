// Many files to one: bundle.mjs src/main.ts OUTPUT.gz, and the same with the style sheet.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const [entry, output] = process.argv.slice(2);
let bytes = readFileSync(entry);
if (/\.(ts|css)$/.test(entry)) {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    target: "es2022",
    format: "iife",
    legalComments: "eof",
    logLevel: "warning",
  });
  bytes = result.outputFiles[0].contents;
}
writeFileSync(output, gzipSync(bytes, { level: 9 }));

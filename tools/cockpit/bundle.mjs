// Many files to one: bundle.mjs src/main.ts OUTPUT.gz, and the same with the style sheet.
import { build } from "esbuild";
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

/** As the program serves it. */
export async function bundle(entry) {
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
  return gzipSync(bytes, { level: 9 });
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [entry, output] = process.argv.slice(2);
  writeFileSync(output, await bundle(entry));
}

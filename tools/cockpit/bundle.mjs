// One file from many: bundle.mjs OUTPUT.html.  Everything the page needs is in it, so it works
// without a network.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2] ?? join(here, "cockpit.html");

async function bundled(entry) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    target: "es2022",
    format: "iife",
    legalComments: "eof",
    logLevel: "warning",
  });
  return result.outputFiles[0].text;
}

// A closing tag inside a script would end it.
const script = (await bundled("main.ts")).replaceAll("</script", "<\\/script");
const style = await bundled("style.css");
const page = readFileSync(join(here, "src", "index.html"), "utf8")
  .replace("/*style*/", () => style)
  .replace("/*script*/", () => script);
writeFileSync(output, page);

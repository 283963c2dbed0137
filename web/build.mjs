// build.mjs FOLDER: bundles the dashboard into FOLDER, which is emptied first: index.html, and beside it assets/ with a
// hash of its content in the name of each file. Addresses are relative, so that the page works below any path. There is
// no inline code. Prints the files that were read, one on a line, for a build tool.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, "src");
const folder = resolve(process.argv[2] ?? join(here, "..", "build", "web"));
const entry = ["main.tsx", "main.ts"].map((name) => join(source, name)).find(existsSync);

/** Writes a file of assets/ under a name with its hash, and returns its address. */
function asset(name, extension, content) {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 10);
  const path = `assets/${name}-${hash}.${extension}`;
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(join(folder, path), content);
  return path;
}

/** The notices that the licenses of the bundled packages require. */
function licenses(packages) {
  return packages.map((name) => {
    const root = join(here, "node_modules", name);
    const file = readdirSync(root).find((each) => /^licen[cs]e/i.test(each));
    return `${name}\n\n${readFileSync(join(root, file), "utf8").trim()}\n`;
  }).join("\n\n");
}

rmSync(folder, { recursive: true, force: true });
const result = await build({
  absWorkingDir: here,
  entryPoints: [entry],
  outdir: folder,
  entryNames: "assets/[name]-[hash]",
  chunkNames: "assets/[name]-[hash]",
  assetNames: "assets/[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  target: ["es2022", "chrome110", "firefox115", "safari16"],
  minify: true,
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
  loader: { ".svg": "file", ".woff2": "file" },
  define: { "process.env.NODE_ENV": '"production"' },
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
});

const inputs = Object.keys(result.metafile.inputs).map((path) => join(here, path));
const packages = new Set();
for (const path of inputs) {
  const match = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
  if (match) packages.add(match[1]);
}
const [main, { cssBundle }] = Object.entries(result.metafile.outputs).find(([, output]) => output.entryPoint);
const address = (path) => relative(folder, resolve(here, path));

const icon = join(source, "icon.svg");
const page = join(source, "index.html");
const head = [
  existsSync(icon) && `<link rel="icon" type="image/svg+xml" href="${asset("icon", "svg", readFileSync(icon))}">`,
  cssBundle && `<link rel="stylesheet" href="${address(cssBundle)}">`,
  `<link rel="license" href="${asset("licenses", "txt", licenses([...packages].sort()))}">`,
  `<script type="module" src="${address(main)}"></script>`,
].filter(Boolean).join("\n");
writeFileSync(join(folder, "index.html"), readFileSync(page, "utf8").replace("<!-- assets -->", () => head));

const read = [page, icon, ...inputs.filter((path) => path.startsWith(source))].filter(existsSync);
console.log([...new Set(read)].join("\n"));

// Bundles tests/*.test.ts and runs them with the test runner of Node.js.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "sluice-web-"));
const names = readdirSync(join(here, "tests")).filter((name) => name.endsWith(".test.ts"));
await build({
  absWorkingDir: here,
  entryPoints: names.map((name) => join("tests", name)),
  outdir: folder,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node18",
  logLevel: "warning",
});
const { status } = spawnSync(process.execPath, ["--test", ...names.map((name) => join(folder, name.replace(/ts$/, "mjs")))], { stdio: "inherit" });
rmSync(folder, { recursive: true });
process.exit(status ?? 1);

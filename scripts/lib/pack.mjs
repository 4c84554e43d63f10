/** What is released, in one folder: the two tarballs, a bill of materials of each, the API's description, and all hashes. */
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { LICENCES, buildPackage, crateMember, packageParts } from "../package.mjs";
import { buildWorker } from "../worker.mjs";
import { replaceFolder } from "./cache.mjs";
import { npm } from "./run.mjs";
import { sbom } from "./sbom.mjs";
import { checkLicences, licenceTexts, linkedParts } from "./licences.mjs";

/** @param {import("./tools.mjs").Tools} tools */
export async function pack(tools, dist = join(tools.root, "dist")) {
  const { root } = tools;
  await buildPackage(tools);
  await replaceFolder(dist, join(root, "build"), async (fresh) => {
    await packOne(
      tools,
      fresh,
      join(root, "pkg"),
      "impact-pledge",
      await packageParts(tools, join(root, "pkg")),
      "library",
    );
    const worker = join(dirname(fresh), "worker");
    const parts = await linkedParts(tools, "server");
    await stageWorker(tools, worker, parts);
    await packOne(tools, fresh, worker, "impact-pledge-worker", parts, "application");
    copyFileSync(join(root, "openapi.yaml"), join(fresh, "openapi.yaml"));
    writeFileSync(
      join(fresh, "SHA256SUMS"),
      readdirSync(fresh)
        .sort()
        .map((name) => `${sha256(join(fresh, name))}  ${name}\n`)
        .join(""),
    );
  });
}

export const sha256 = (file) => createHash("sha256").update(readFileSync(file)).digest("hex");

/** The Worker with a manifest, as npm packs the same bytes of the same files. It is not published there. */
async function stageWorker(tools, folder, parts) {
  const { root } = tools;
  mkdirSync(folder);
  await buildWorker(tools, folder);
  checkLicences(parts);
  writeFileSync(join(folder, LICENCES), licenceTexts(root, parts));
  copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  const manifest = {
    name: "impact-pledge-worker",
    version: crateMember(root, "version"),
    private: true,
    license: "MIT",
    type: "module",
    main: "worker.js",
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

async function packOne({ root }, dist, folder, name, parts, type) {
  const [version, repository] = [crateMember(root, "version"), crateMember(root, "repository")];
  await npm(["pack", folder, "--pack-destination", dist, "--ignore-scripts", "--loglevel=error"], {
    cwd: dist,
  });
  const purl = type === "library" ? `pkg:npm/${name}@${version}` : `pkg:generic/${name}@${version}`;
  writeFileSync(
    join(dist, `${name}-${version}.cdx.json`),
    await sbom({ name, version, license: "MIT", purl, repository, type }, parts),
  );
}

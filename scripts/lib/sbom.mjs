/** A software bill of materials: CycloneDX 1.6 as JSON, without the time and a random number, so that it is the same each time. */
import { Contrib, Enums, Models, Serialize, Spec, Validation } from "@cyclonedx/cyclonedx-library";
import parse from "spdx-expression-parse";
import { UserError } from "./output.mjs";

const { Bom, Component, ComponentRepository, ExternalReference, HashDictionary } = Models;
const licences = new Contrib.License.Factories.LicenseFactory(parse);

/**
 * @param {{name: string, version: string, license: string, purl: string, repository: string, type?: string}} whole
 * @param {import("./licences.mjs").Part[]} parts @returns {Promise<string>}
 */
export async function sbom({ type = Enums.ComponentType.Library, ...whole }, parts) {
  const bom = new Bom();
  const main = component(type, whole);
  main.externalReferences.add(
    new ExternalReference(whole.repository, Enums.ExternalReferenceType.VCS),
  );
  bom.metadata.component = main;
  const byPurl = new Map(
    parts.map((part) => [part.purl, component(Enums.ComponentType.Library, part)]),
  );
  bom.components = new ComponentRepository(byPurl.values());
  for (const { purl, needs } of parts)
    for (const other of needs) byPurl.get(purl).dependencies.add(byPurl.get(other).bomRef);
  for (const each of byPurl.values()) main.dependencies.add(each.bomRef);
  const text = new Serialize.JsonSerializer(
    new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6),
  ).serialize(bom, { sortLists: true, space: 2 });
  await checkSbom(text);
  return `${text}\n`;
}

/** @throws {UserError} when a text is not what CycloneDX's own schema says */
export async function checkSbom(text) {
  const wrong = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text);
  if (wrong !== null)
    throw new UserError(`the bill of materials is not CycloneDX: ${JSON.stringify(wrong)}`);
}

function component(type, { name, version, license, purl, sha256 }) {
  const hashes = new HashDictionary(sha256 ? [[Enums.HashAlgorithm["SHA-256"], sha256]] : []);
  const made = new Component(type, name, { version, purl, bomRef: purl, hashes });
  made.licenses.add(licences.makeFromString(license));
  return made;
}

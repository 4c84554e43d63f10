/** Writes copies of wrangler.toml as an operator would set it up. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const SENDER = 'MAIL_FROM = "pledges@shop.example"';

/**
 * Writes a copy of wrangler.toml in which each environment has a PUBLIC_ORIGIN, such as
 * `https://staging.example`.
 * @param {string} folder for the copy
 * @param {(text: string) => string} [change] a further change of its text
 * @returns {string} the path of the copy
 */
export const withOrigins = (folder, change = (text) => text) =>
  written(folder, change(originsIn(source())));

/** Removes the section `[build]`. @param {string} text of wrangler.toml @returns {string} */
export const withoutBuild = (text) => text.replace(/^\[build\]\n(?:.+\n)+/m, "");

/**
 * Writes a copy of wrangler.toml with e-mail settings and an origin, but without the build section. In the
 * original, the e-mail settings are commented out.
 * @param {string} folder
 */
export const withMail = (folder) => written(folder, mailIn(originsIn(source())));

/**
 * Writes a copy of wrangler.toml with e-mail settings, but without an origin.
 * @param {string} folder
 */
export const withMailAlone = (folder) => written(folder, mailIn(source()));

/**
 * Writes a copy of wrangler.dashboard.toml without its build section.
 * @param {string} folder
 * @param {(text: string) => string} [change] a further change of its text
 */
export const withDashboard = (folder, change = (text) => text) =>
  written(folder, change(withoutBuild(source("wrangler.dashboard.toml"))));

const source = (file = "wrangler.toml") =>
  readFileSync(join(ROOT, file), "utf8").replace('main = "', `main = "${ROOT}/`);

const originsIn = (text) =>
  text.replaceAll(
    /^(\[(?:env\.(\w+)\.)?vars\]\n(?:.+\n)*?PUBLIC_ORIGIN = )""/gm,
    (_, before, environment = "pledges") => `${before}"https://${environment}.example"`,
  );

const mailIn = (text) =>
  withoutBuild(text.replaceAll(/^#(?=\S| {2}\{)/gm, "").replaceAll('MAIL_FROM = ""', SENDER));

function written(folder, text) {
  const file = join(folder, "wrangler.toml");
  writeFileSync(file, text);
  return file;
}

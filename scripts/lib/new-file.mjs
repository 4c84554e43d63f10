/** Files for personal data and secrets. */
import { lstatSync, renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { UserError } from "./output.mjs";

const ONLY_MINE = 0o600;

/**
 * Writes a file that does not exist, which only its owner can read. It is there once it is whole; until then it is
 * `FILE.part`. A link is not followed.
 * @template T
 * @param {string} file
 * @param {(output: import("node:fs/promises").FileHandle) => Promise<T>} work
 */
export async function newFile(file, work) {
  try {
    return await write(file, work);
  } catch (error) {
    throw error.syscall ? new UserError(`no file can be written there: ${error.message}`) : error;
  }
}

async function write(file, work) {
  refuseExisting(file);
  const part = `${file}.part`;
  rmSync(part, { force: true }); // what was broken off
  const output = await open(part, "wx", ONLY_MINE);
  try {
    const done = await work(output);
    await output.sync();
    refuseExisting(file);
    renameSync(part, file);
    return done;
  } finally {
    await output.close();
  }
}

function refuseExisting(file) {
  if (lstatSync(file, { throwIfNoEntry: false }))
    throw new UserError(`${file} exists, and no file is overwritten: choose another name`);
}

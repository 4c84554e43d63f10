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
  const begun = await beginFile(file);
  try {
    const done = await work(begun.output);
    await begun.finish();
    return done;
  } catch (error) {
    throw inWords(error);
  } finally {
    await begun.close();
  }
}

/** Begins such a file. `finish` makes it whole; `close` comes last, also without. @param {string} file */
export async function beginFile(file) {
  const part = `${file}.part`;
  try {
    refuseExisting(file);
    rmSync(part, { force: true }); // what was broken off
    const output = await open(part, "wx", ONLY_MINE);
    const finish = async () => {
      await output.sync();
      refuseExisting(file);
      renameSync(part, file);
    };
    return { output, finish, close: () => output.close() };
  } catch (error) {
    throw inWords(error);
  }
}

const inWords = (error) =>
  error.syscall ? new UserError(`no file can be written there: ${error.message}`) : error;

function refuseExisting(file) {
  if (lstatSync(file, { throwIfNoEntry: false }))
    throw new UserError(`${file} exists, and no file is overwritten: choose another name`);
}

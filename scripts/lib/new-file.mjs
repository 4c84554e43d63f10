/** Writes files that may contain personal data and secrets. Only their owner can read them. */
import { lstatSync, renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { UserError } from "./output.mjs";

const ONLY_MINE = 0o600;

/**
 * Writes a new file that only its owner can read. Until it is complete, the file is called `FILE.part`.
 * Symbolic links are not followed.
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
    throw inWords(file, error);
  } finally {
    await begun.close();
  }
}

/**
 * Starts a new file that only its owner can read. Call `finish` once it is complete. Always call `close` at the end,
 * even after an error.
 * @param {string} file
 */
export async function beginFile(file) {
  const part = `${file}.part`;
  try {
    refuseExisting(file);
    rmSync(part, { force: true }); // of an interrupted attempt
    const output = await open(part, "wx", ONLY_MINE);
    const finish = async () => {
      await output.sync();
      refuseExisting(file);
      renameSync(part, file);
    };
    return { output, finish, close: () => output.close() };
  } catch (error) {
    throw inWords(file, error);
  }
}

/** Returns the error for a file that cannot be written. It names the file as the user gave it. */
function inWords(file, error) {
  if (!error.syscall) return error;
  const reason = error.code === "ENOENT" ? `there is no folder ${dirname(file)}` : error.message;
  return new UserError(`${file} can't be written: ${reason}`);
}

function refuseExisting(file) {
  if (lstatSync(file, { throwIfNoEntry: false }))
    throw new UserError(`${file} already exists, and is not overwritten: choose another name`);
}

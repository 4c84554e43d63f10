/** The prices that the service charges by. */
import { operator } from "./operator.mjs";
import { UserError } from "./output.mjs";

export const MODES = ["test", "live"];

/** The catalogue of a mode, or null, and the name of its record. */
export async function storedPrices(tools, kv, mode) {
  const names = (await operator(tools, "catalogue-names"))[mode];
  for await (const { name, value } of kv.read(names)) {
    if (value !== null)
      return {
        name,
        catalogue: await ask(
          tools,
          "stored-catalogue",
          () => value,
          `the stored record \`${name}\``,
        ),
      };
  }
  return { name: names[0], catalogue: null };
}

/** @param {string} what the input is, for messages */
export async function ask(tools, command, read, what) {
  try {
    return await operator(tools, command, read());
  } catch (error) {
    throw new UserError(`${what}: ${error.message}`);
  }
}

/** An assistant: the client of the official MCP SDK, which starts the server as a process of its own. */
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { PATIENCE_MS } from "../support/until.mjs";
import { tools } from "./script.mjs";

/** On a busy machine, a first call may take minutes. */
const PATIENT = { timeout: PATIENCE_MS };
const SCRIPT = join(tools.root, "scripts", "run.mjs");

/**
 * Starts the server `mcp` and connects to it.
 * @param {import("node:test").TestContext} t
 * @param {string[]} args of the server
 * @param {NodeJS.ProcessEnv} [env]
 */
export async function assistant(t, args, env = {}) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [SCRIPT, "mcp", "--timeout", "600", ...args],
    env: /** @type {Record<string, string>} */ ({ ...tools.env, ...env }),
    stderr: "pipe",
  });
  let said = "";
  transport.stderr?.on("data", (chunk) => (said += chunk));
  const client = new Client({ name: "test", version: "0" });
  await client.connect(transport, PATIENT);
  t.after(() => client.close());
  const call = (name, given = {}) =>
    client.callTool({ name, arguments: given }, undefined, PATIENT);
  return {
    client,
    call,
    /** Calls a tool that answers, and returns its text and its structured content. */
    answer: async (name, given) => {
      const result = /** @type {any} */ (await call(name, given));
      if (result.isError) throw new Error(result.content[0].text);
      return { text: result.content[0].text, data: result.structuredContent };
    },
    /** Calls a tool that refuses, and returns its error and its text. */
    refusal: async (name, given) => {
      const result = /** @type {any} */ (await call(name, given));
      if (!result.isError) throw new Error(`it answered: ${JSON.stringify(result)}`);
      return { text: result.content[0].text, ...result.structuredContent.error };
    },
    /** Returns what the server has printed on standard error. */
    problem: () => said,
  };
}

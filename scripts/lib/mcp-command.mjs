/** `mcp`: an MCP server, by which assistants read what an operator may see. */
import { resolve } from "node:path";
import { InvalidArgumentError, Option, command, whole } from "./command.mjs";
import { groups } from "./operations.mjs";
import { UserError } from "./output.mjs";
import { calledAs, isClone, operatorTools } from "./places.mjs";

const ABOUT =
  "Serves the operator's reads as tools for an assistant, by the Model Context Protocol on standard input and output. It changes nothing, and masks personal data. An assistant starts it; it ends with its input.";
const TIMEOUT_SECONDS = 60;

export function mcpCommand() {
  const program = command(calledAs("mcp").replace(/ --$/, ""), ABOUT);
  program
    .option("--remote", "read the deployed service (default: the local service)")
    .option("--env <name>", "with --remote: the environment of wrangler.toml, such as `production`")
    .addOption(new Option("--persist-to <dir>", "folder of the local state").conflicts("remote"))
    .option(
      "--groups <names>",
      `only the tools of these groups, separated by commas: ${groups.join(", ")}`,
      readGroups,
    )
    .option(
      "--timeout <seconds>",
      "time limit of a call, from 1 to 600",
      whole(1, 600),
      TIMEOUT_SECONDS,
    );
  if (!isClone)
    program.option("--project <dir>", "folder that `init` created (default: the current folder)");
  return program.action((options) => serve(program, options));
}

async function serve(
  { terminal },
  { remote, env: environment, persistTo, groups: only, timeout, project },
) {
  if (environment !== undefined && !remote)
    throw new UserError("`--env` is for a deployed service: add `--remote`");
  const tools = operatorTools(terminal.env, project && resolve(project));
  const { serveMcp } = await import("./mcp-server.mjs"); // loads the SDK, which other commands do not need
  const where = { remote, environment, persistTo };
  await serveMcp(tools, { where, groups: only, timeoutMs: timeout * 1000 });
}

function readGroups(text) {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !groups.includes(name));
  if (unknown === undefined) return names;
  throw new InvalidArgumentError(
    `There is no group \`${unknown}\`. The groups are: ${groups.join(", ")}.`,
  );
}

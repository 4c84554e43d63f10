#!/usr/bin/env node
/** `npx impact-pledge-service …`: the command of the npm package. */
import { command } from "./lib/command.mjs";
import { commandsFor } from "./lib/commands.mjs";
import { deployCommand } from "./lib/deploy-command.mjs";
import { startDevelopment } from "./lib/development.mjs";
import { init } from "./lib/init.mjs";
import { mcpCommand } from "./lib/mcp-command.mjs";
import { migrateCommand } from "./lib/migrate.mjs";
import { groupsAbout } from "./lib/operations.mjs";
import { runToEnd } from "./lib/output.mjs";
import { calledAs, operatorTools, version } from "./lib/places.mjs";
import { developmentConfigs } from "./lib/project.mjs";
import { freePort, serveUntilAsked } from "./lib/serve.mjs";

const ABOUT = "Creates, runs, deploys and operates Impact Pledge's service on Cloudflare Workers.";

const initProgram = command(
  calledAs("init"),
  "Creates a folder with the configuration of a service, and installs this package there.",
);
initProgram
  .argument("<folder>", "a new folder, or an empty one")
  .option("--no-install", "skip `npm install`")
  .action((folder, { install }) => init(folder, { install }));

const dev = command(
  calledAs("dev"),
  "Runs the service, a demo shop and the dashboard on this machine, with development data. The service is on http://127.0.0.1:8787, or on another port with PORT=9000. Data survives a restart. Press Ctrl-C to stop.",
);
dev.option("--persist-to <dir>", "folder of the local state").action(async ({ persistTo }) => {
  const tools = operatorTools(dev.terminal.env);
  const port = await freePort(dev.terminal.env.PORT, calledAs("dev"));
  await serveUntilAsked(() =>
    startDevelopment(tools, { port, persistTo, configs: developmentConfigs(tools) }),
  );
});

const deploy = deployCommand(async () => operatorTools(), { isWhole: true });

const PROGRAMS = { init: initProgram, dev, deploy, migrate: migrateCommand(), mcp: mcpCommand() };

const PROGRAMS_ABOUT = {
  init: "Create a project",
  dev: "Run the service, a demo shop and the dashboard on this machine",
  deploy: "Upload the service, then its dashboard",
  migrate: "Update the ledger's tables to this version",
  mcp: "Let an assistant read what commands read (MCP)",
};

const main = command(calledAs("").trim(), ABOUT)
  .version(version(), "--version", "print the version")
  .enablePositionalOptions()
  .helpCommand(false)
  .addHelpText("after", `\n\`${calledAs("keys")} --help\` lists the commands of a group.`);

/** Runs a command of this package, such as `keys`. */
async function runProgram(name, argv) {
  const program = PROGRAMS[name] ?? commandsFor(name);
  main.exitCode = await program.run(argv, main.terminal);
}

for (const [name, about] of Object.entries({ ...PROGRAMS_ABOUT, ...groupsAbout }))
  main
    .command(name)
    .description(about)
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .passThroughOptions()
    .action((_, line) => runProgram(name, line.args));

/** Converts `keys create`, after `help`, to `keys create --help`. Leaves an unknown command, which is then refused. */
function withHelp(words) {
  const [name] = words;
  const isKnown = main.commands.some((one) => one.name() === name);
  return isKnown || name === undefined ? [...words, "--help"] : words;
}

await runToEnd((to) => {
  const argv = process.argv.slice(2);
  return main.run(argv[0] === "help" ? withHelp(argv.slice(1)) : argv, to);
});

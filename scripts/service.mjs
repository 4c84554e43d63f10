#!/usr/bin/env node
/** `npx impact-pledge-service …`: the command of the npm package. */
import { command } from "./lib/command.mjs";
import { commandsFor } from "./lib/commands.mjs";
import { deployCommand } from "./lib/deploy-command.mjs";
import { startDevelopment } from "./lib/development.mjs";
import { init } from "./lib/init.mjs";
import { migrateCommand } from "./lib/migrate.mjs";
import { groups, groupsAbout } from "./lib/operations.mjs";
import { runToEnd } from "./lib/output.mjs";
import { calledAs, operatorTools } from "./lib/places.mjs";
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

const PROGRAMS = { init: initProgram, dev, deploy, migrate: migrateCommand() };

const main = command(calledAs("").trim(), ABOUT)
  .argument("<command>", "what to do")
  .addHelpText(
    "after",
    `
Commands:
  init <folder>   Create a project
  dev             Run the service, a demo shop and the dashboard on this machine
  deploy          Upload the service, then its dashboard
  migrate         Update the ledger's tables to this version
${groupsAbout()}

\`${calledAs("keys")} --help\` lists the commands of a group.`,
  );

await runToEnd((to) => {
  const [name = "", ...argv] = process.argv.slice(2);
  if (Object.hasOwn(PROGRAMS, name)) return PROGRAMS[name].run(argv, to);
  if (groups.includes(name)) return commandsFor(name).run(argv, to);
  if (name && !name.startsWith("-")) return main.error(`unknown command '${name}'`);
  return main.run(name ? [name] : [], to);
});

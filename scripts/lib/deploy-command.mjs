/** `deploy [--env NAME] [wrangler's options]`: uploads Workers to the account that wrangler is signed in to. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { Cloudflare } from "./cloudflare.mjs";
import { Option, command } from "./command.mjs";
import { configOnService } from "./dashboard-config.mjs";
import { checkAtomic } from "./ledger-account.mjs";
import { checkSettings } from "./deploy-settings.mjs";
import { DASHBOARD, configuration } from "./configuration.mjs";
import { UserError, log } from "./output.mjs";
import { calledAs } from "./places.mjs";
import { connected, leaveQueues } from "./service-account.mjs";
import { operatorIn, setUpSignIn } from "./sign-in.mjs";

const DEADLINE_MS = 30_000; // of each call

const OTHERS = [
  "outdir",
  "message",
  "tag",
  "name",
  "var",
  "define",
  "keep-vars",
  "secrets-file",
  "strict",
  "minify",
  "no-bundle",
  "latest",
  "compatibility-date",
  "routes",
  "domains",
  "triggers",
  "logpush",
  "metafile",
].map((name) => `--${name}`);

/**
 * Creates the command `deploy`. With `isWhole`, it deploys the service and then the dashboard, or only one of
 * them if an option says so. It updates the ledger's tables before it uploads the dashboard.
 * @param {() => Promise<Tools>} getTools
 * @param {{isWhole?: boolean}} [kind]
 */
export function deployCommand(getTools, { isWhole = false } = {}) {
  const deploy = command(
    calledAs("deploy"),
    isWhole
      ? "Uploads the service, updates the ledger's tables, and uploads the dashboard. Uses the account that wrangler is logged in to. With `--service` or `--dashboard`, further options are passed to `wrangler deploy`."
      : "Uploads the service, or the dashboard, to the account that wrangler is logged in to. Further options are passed to `wrangler deploy`.",
  );
  deploy.others = OTHERS;
  deploy
    .option("--env <name>", "the environment of wrangler.toml (default: its top level)")
    .option("--dashboard", "deploy the dashboard of that environment (deploy its service first)")
    .option(
      "--operator <address>",
      "set up the sign-in for the dashboard's first operator, with this e-mail address",
    )
    .option("--dry-run", "build and show what would be uploaded")
    .option(
      "--config <file>",
      `the configuration (default: wrangler.toml; with --dashboard, ${DASHBOARD})`,
    )
    .allowUnknownOption()
    .argument("[options...]")
    .action(async (others, options) => {
      const parts = partsOf(options, isWhole);
      const operator = options.operator && operatorIn(options.operator);
      if (operator && !parts.includes("dashboard"))
        throw new UserError("`--operator` is for the dashboard: add `--dashboard`");
      if (parts.length > 1) refuseOfOne(others, options);
      const tools = await getTools();
      for (const part of parts) {
        const dashboard = part === "dashboard";
        const { terminal } = deploy;
        deploy.exitCode = await run(tools, others, { ...options, operator, dashboard, terminal });
        if (deploy.exitCode !== 0) return;
      }
    });
  if (isWhole)
    deploy.addOption(new Option("--service", "deploy only the service").conflicts("dashboard"));
  return deploy;
}

/** @returns {("service" | "dashboard")[]} */
function partsOf({ dashboard = false, service = false }, isWhole) {
  if (dashboard) return ["dashboard"];
  return isWhole && !service ? ["service", "dashboard"] : ["service"];
}

/**
 * Throws if options of wrangler are given for a deployment of both Workers. Such an option, for example a
 * name or a domain, is meant for only one Worker.
 */
function refuseOfOne(others, { config }) {
  const [first] = config === undefined ? others : ["--config"];
  if (first !== undefined)
    throw new UserError(
      `\`${first}\` is for one Worker: add \`--service\` or \`--dashboard\`. Nothing was deployed`,
    );
}

/**
 * Deploys one of the two Workers.
 * @param {Tools} tools
 * @param {string[]} others
 * @param {{env?: string, dashboard?: boolean, dryRun?: boolean, config?: string, operator?: string, terminal: import("./output.mjs").Terminal}} options
 * @returns {Promise<number>} wrangler's exit code
 */
async function run(tools, others, options) {
  const { env: environment = "", dashboard, dryRun, config, operator, terminal } = options;
  const file = config ?? (dashboard ? DASHBOARD : "wrangler.toml");
  const settings = await configuration(resolve(tools.project, file), environment || undefined);
  const notes = dashboard ? [] : checkSettings(settings, environment, others);
  const account = tools.env.CLOUDFLARE_ACCOUNT_ID || settings.account_id || "of wrangler's login";
  const place = environment ? `environment ${environment}` : "no environment";
  const what = dryRun ? "dry run of the upload" : "deploying";
  log(`${what}: account ${account}, ${place}, Worker ${settings.name}`);
  for (const note of notes) log(note);
  const work = { file, environment, settings, others };
  if (dryRun) return upload(tools, { ...work, others: ["--dry-run", ...others] });
  if (!dashboard) return deployService(tools, work);
  return deployDashboard(tools, work, { environment, operator, terminal });
}

/** @typedef {import("./places.mjs").OperatorTools} Tools */
/** @typedef {{file: string, environment: string, settings: import("wrangler").Unstable_Config, others: string[]}} Work `others`: options */

/** Deploys the service. @param {Tools} tools @param {Work} work @returns {Promise<number>} wrangler's exit code */
async function deployService(tools, work) {
  const { settings, others } = work;
  const access = { account: settings.account_id, deadline: DEADLINE_MS };
  const cloudflare = await Cloudflare.open(tools, access);
  const worker = nameAmong(others) ?? settings.name ?? "";
  const service = { worker, settings, bindings: await cloudflare.bindingsIfAny(worker) };
  const file = await connected(tools, cloudflare, service, work);
  const code = upload(tools, { ...work, file });
  if (code === 0) await leaveQueues(cloudflare, service);
  return code;
}

/**
 * Deploys the dashboard.
 * @param {Tools} tools @param {Work} work @param {Parameters<typeof setUpSignIn>[2]} people
 * @returns {Promise<number>} wrangler's exit code
 */
async function deployDashboard(tools, work, people) {
  const { environment, settings } = work;
  const file = await configOnService(tools, work);
  const code = upload(tools, { ...work, file });
  if (code !== 0) return code;
  const access = { account: settings.account_id, deadline: DEADLINE_MS };
  const cloudflare = await Cloudflare.open(tools, access);
  const said = await setUpSignIn(cloudflare, settings, people);
  people.terminal.out(`${said}\n`);
  const deployed = await configuration(file, environment || undefined);
  await checkAtomic(cloudflare, deployed);
  return code;
}

/**
 * Returns the Worker's name from wrangler's option `--name`; undefined if the option is absent.
 * @param {string[]} others options
 */
function nameAmong(others) {
  const at = others.findIndex((option) => /^--name(=|$)/.test(option));
  return at === -1 ? undefined : (others[at].split("=")[1] ?? others[at + 1]);
}

/** Uploads a Worker with wrangler. @param {Tools} tools @param {Work} work @returns {number} wrangler's exit code */
function upload({ project, env, wrangler }, { file, environment, settings, others }) {
  const args = [wrangler, "deploy", "--config", file, "--env", environment, ...others];
  const { status } = spawnSync(process.execPath, args, { cwd: project, env, stdio: "inherit" });
  if (status !== 0)
    log(
      `wrangler did not upload the Worker ${nameAmong(others) ?? settings.name}: its messages above say why. Mend that, then run it again`,
    );
  return status ?? 1;
}

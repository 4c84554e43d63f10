/** `npm run deploy [-- --env NAME] [wrangler's options]`: builds a Worker, and uploads it. */
import { deployCommand } from "./lib/deploy-command.mjs";
import { prepareTools } from "./setup/tools.mjs";

export default deployCommand(prepareTools);

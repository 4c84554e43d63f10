/** `npm run --silent mcp`: the MCP server of the operator's reads. */
import { mcpCommand } from "./lib/mcp-command.mjs";

export default mcpCommand();

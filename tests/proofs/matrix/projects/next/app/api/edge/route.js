import { tryAll } from "../../../entries.mjs";

export const runtime = "edge";

export const GET = async (request) =>
  Response.json(await tryAll({ baseUrl: new URL(request.url).searchParams.get("service") }));

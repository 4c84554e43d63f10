import { tryAll } from "./entries.mjs";

export default {
  async fetch(request) {
    const baseUrl = new URL(request.url).searchParams.get("service");
    return baseUrl ? Response.json(await tryAll({ baseUrl })) : new Response("ready");
  },
};

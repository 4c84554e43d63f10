import { PledgeClient } from "impact-pledge";
import { strays } from "./contexts.mjs";
import { tryAll } from "./entries.mjs";

export default {
  async fetch(request) {
    const baseUrl = new URL(request.url).searchParams.get("service");
    if (!baseUrl) return new Response("ready");
    const found = await strays(PledgeClient);
    return Response.json(found.length > 0 ? found : await tryAll({ baseUrl }));
  },
};

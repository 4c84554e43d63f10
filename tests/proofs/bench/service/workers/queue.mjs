/** The service behind workerd's queue binding. It accepts each message, and drops it. */
const TAKEN = { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } };

export default {
  async fetch(request) {
    await request.arrayBuffer();
    return Response.json(TAKEN);
  },
};

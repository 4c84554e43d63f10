import { sveltekit } from "@sveltejs/kit/vite";

// To deploy it, give `sveltekit` the adapter of the place where it shall run.
export default { plugins: [sveltekit()] };

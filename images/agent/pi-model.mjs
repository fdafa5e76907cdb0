/**
 * An extension for pi: tells it about the model that the agent runner has read from the group's variables. It is loaded only
 * if a model's server is named, and contains no key, only a reference to the key's variable.
 */
export default function registerModel(pi) {
  const { provider, baseUrl, api, apiKey, model } = JSON.parse(process.env.GLOVEBOX_PI_MODEL);
  const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const described = {
    ...{ id: model, name: model, reasoning: false, input: ["text"], cost: free },
    ...{ contextWindow: 128_000, maxTokens: 16_384 },
  };
  pi.registerProvider(provider, {
    ...{ name: provider, baseUrl, api, apiKey },
    ...(model === null ? {} : { models: [described] }),
  });
}

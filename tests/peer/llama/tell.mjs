// SPDX-License-Identifier: MIT
// Loads each of the models with llama.cpp and prints, a line each, what it goes
// on with after the first words: always the most likely token, so that the same
// numbers tell the same story.
import { getLlama, LlamaCompletion, LlamaLogLevel } from "node-llama-cpp";

const llama = await getLlama({
  gpu: false,
  build: "never",
  progressLogs: false,
  logLevel: LlamaLogLevel.error,
  // More threads would only wait for one another in a model this small.
  maxThreads: 1,
});
for (const modelPath of process.argv.slice(2)) {
  try {
    const model = await llama.loadModel({ modelPath });
    const context = await model.createContext({
      contextSize: 256,
      sequences: 1,
      batchSize: 32,
      threads: 1,
    });
    const completion = new LlamaCompletion({
      contextSequence: context.getSequence(),
    });
    const story = await completion.generateCompletion("Once upon a time", {
      maxTokens: 100,
      temperature: 0,
    });
    console.log(JSON.stringify(story));
    await model.dispose();
  } catch (error) {
    console.log(`not loaded: ${error.message}`);
  }
}

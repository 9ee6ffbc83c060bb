#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/tensor/tensor.h"
#include "core/tensor/value.h"

namespace sonde::bench {

/// How a model is run: by Sonde or by ONNX Runtime ("ort").
struct Way {
    const char* name;   ///< on the command line, in JSON lines
    const char* title;  ///< in the table
    bool isPeer = false;
    bool watchesAll = false;           ///< every value is kept until the next run
    bool makesStatistics = false;      ///< of every value
    int optimisation = kOptimisedAll;  ///< of the peer
    static constexpr int kOptimisedAll = 99, kNotOptimised = 0;
};
inline constexpr Way kWays[] = {
    {"ort-all", "ORT all", true},
    {"sonde", "Sonde"},
    {"ort-disabled", "ORT disabled", true, false, false, Way::kNotOptimised},
    {"sonde-watch-all", "watch all", false, true},
    {"ort-all-outputs", "ORT all outputs", true, true},
    {"sonde-statistics", "statistics", false, false, true},
};

/// A model that is open in one of the engines, with its inputs.
class Engine {
  public:
    virtual ~Engine() = default;
    /// One run. What it keeps lives until the next one.
    virtual base::Result<void> run() = 0;
    /// The first output of the last run, as float32.
    virtual base::Result<tensor::Tensor> output() = 0;
    virtual std::string version() const = 0;
};

/// Inputs of a type: floats of -0.5 to 0.5, integers and bools 0 and 1 in turn, which are words, kinds and masks.
base::Result<tensor::Tensor> inputOf(tensor::DType dtype, const tensor::Shape& shape);

/// `model`: an ONNX file.
base::Result<std::unique_ptr<Engine>> openInSonde(const std::string& model, const Way& way, std::size_t threads);
/// `library`: libonnxruntime.so, whose code runs in this process.
base::Result<std::unique_ptr<Engine>> openInOrt(const std::string& model, const Way& way, std::size_t threads,
                                                const std::string& library);

}  // namespace sonde::bench

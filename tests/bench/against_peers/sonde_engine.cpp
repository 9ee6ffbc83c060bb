#include "core/analysis/measured_runs.h"
#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/ops/kernels/float_kernels.h"
#include "tests/bench/against_peers/engine.h"

namespace sonde::bench {

using base::Result;
using tensor::DType;
using tensor::Tensor;

Result<Tensor> inputOf(DType dtype, const tensor::Shape& shape) {
    SONDE_ASSIGN(Tensor values, Tensor::allocate(DType::Float32, shape));
    float* const data = values.mutableData<float>();
    const bool areFloats = dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::Float16;
    std::uint32_t state = 12345;
    for (std::int64_t i = 0; i < values.numel(); ++i) {
        state = state * 1664525U + 1013904223U;
        data[i] = areFloats ? static_cast<float>(state >> 8U) / 16777216.0F - 0.5F : static_cast<float>(i % 2);
    }
    return values.cast(dtype);
}

namespace {

class SondeEngine : public Engine {
  public:
    SondeEngine(const Way& way, std::size_t threads) : m_way(way), m_runner(threads) {}

    Result<void> open(const std::string& model) {
        SONDE_ASSIGN(const auto document, document::open(model));
        m_graph = document->graph;
        for (const graph::NodeId node : m_graph->inputs()) {
            const tensor::TypeInfo& type = m_graph->node(node).type;
            const auto shape = type.staticShape();
            if (!shape) return base::usageError("an input has open dimensions", m_graph->node(node).name);
            SONDE_ASSIGN(Tensor x, inputOf(type.dtype, *shape));
            m_inputs.emplace_back(std::move(x));
        }
        exec::PlanOptions options;
        options.watchAll = m_way.watchesAll;
        SONDE_ASSIGN(m_plan, exec::Plan::make(m_graph, options));
        return {};
    }

    Result<void> run() override {
        if (m_way.makesStatistics) {
            SONDE_ASSIGN(m_statistics, analysis::measureRun({m_graph, m_inputs}, m_runner));
            if (m_statistics.error) return *m_statistics.error;
            return {};
        }
        m_recording = exec::Recording();
        m_recording = m_runner.run(*m_plan, m_inputs);
        if (m_recording.error) return *m_recording.error;
        return {};
    }

    Result<Tensor> output() override {
        if (m_way.makesStatistics) m_recording = m_runner.run(*m_plan, m_inputs);
        if (m_recording.error) return *m_recording.error;
        return m_recording.outputs.front().tensor().cast(DType::Float32);
    }

    std::string version() const override { return ops::kernels::floatKernels().name; }

  private:
    const Way& m_way;
    exec::Runner m_runner;
    std::shared_ptr<const graph::InternalGraph> m_graph;
    std::shared_ptr<const exec::Plan> m_plan;
    std::vector<tensor::Value> m_inputs;
    exec::Recording m_recording;
    analysis::RunStats m_statistics;
};

}  // namespace

Result<std::unique_ptr<Engine>> openInSonde(const std::string& model, const Way& way, std::size_t threads) {
    auto engine = std::make_unique<SondeEngine>(way, threads);
    SONDE_TRY(engine->open(model));
    return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace sonde::bench

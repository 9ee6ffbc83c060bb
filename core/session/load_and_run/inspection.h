#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/exec/runner.h"
#include "core/session/load_and_run/options.h"

namespace sonde::session {

/// Looks at every value of runs, as the options ask: checks ranges and repetition, writes values to files. One for all
/// cases of a graph. What it finds wrong is in `violations`; what it cannot write is an error.
class Inspection : public exec::RunObserver {
  public:
    /// Creates the files and folders. Error (Run): one cannot be written.
    static base::Result<std::unique_ptr<Inspection>> make(const LoadAndRunOptions& options,
                                                          std::shared_ptr<const graph::InternalGraph> graph,
                                                          const std::vector<graph::NodeId>& outputs);

    /// Whether runs are to be observed: the first of each case; all of them.
    bool looksAtFirstRuns() const;
    bool looksAtAllRuns() const { return m_options.varCheck.has_value(); }

    /// Before a run; `inputs` in the order of the graph's. `isFirst`: of its case.
    void begin(std::size_t caseIndex, bool isFirst, std::span<const tensor::Value> inputs);
    /// After it. Error: of writing.
    base::Result<void> end();

    /// "float value out of range: …", one for each value at most; and what changed between runs.
    const std::vector<std::string>& violations() const { return m_violations; }
    /// Of values that the last run computed.
    const std::unordered_map<graph::NodeId, std::int64_t>& bytes() const { return m_bytes; }

    void exprFinished(graph::ExprId expr, std::span<const tensor::Value> outputs, std::int64_t elapsedNs) override;

  private:
    Inspection(const LoadAndRunOptions& options, std::shared_ptr<const graph::InternalGraph> graph,
               const std::vector<graph::NodeId>& outputs);

    void checkRange(graph::NodeId node, const tensor::Tensor& value);
    void checkRepetition(graph::NodeId node, const tensor::Tensor& value);
    void describe(const graph::Expr& expr, graph::NodeId node, const tensor::Value& value);
    void store(const std::string& folder, graph::NodeId node, const tensor::Value& value);

    const LoadAndRunOptions& m_options;
    std::shared_ptr<const graph::InternalGraph> m_graph;
    std::set<graph::NodeId> m_outputs;
    std::ofstream m_text;
    std::size_t m_case = 0;
    bool m_isFirst = false;
    std::size_t m_count = 0;  ///< of values in this run
    std::optional<base::Error> m_error;
    std::vector<std::string> m_violations;
    std::set<graph::NodeId> m_outOfRange;
    std::unordered_map<graph::NodeId, std::string> m_heads;  ///< first elements of values, for those computed from them
    std::map<std::size_t, tensor::Tensor> m_before;          ///< of the case's first run, by their number
    std::unordered_map<graph::NodeId, std::int64_t> m_bytes;  ///< of the last run
};

}  // namespace sonde::session

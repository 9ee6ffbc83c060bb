#include "core/session/chain_reference.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/exec/pass_text.h"
#include "core/session/model_reference.h"
#include "core/session/reference_value.h"
#include "core/session/why/reference_chain.h"

namespace sonde::session {

using graph::NodeId;
using tensor::Value;

namespace {

class FileReader : public why::Reader {
  public:
    FileReader(const debug::View& view, const std::string& path, const base::WorkContext& work)
        : m_view(view), m_path(path), m_work(work) {}
    base::Result<Value> value(NodeId node) override { return referenceValue(m_view.document(), m_path, node, m_work); }
    base::Result<Value> valueIn(NodeId node, const std::vector<std::int64_t>& iterations, bool isLast) override {
        return referenceValue(m_view.document(), m_path, node, m_work,
                              {exec::passText(iterations), isLast && m_view.place().isEnd});
    }

  private:
    const debug::View& m_view;
    const std::string& m_path;
    const base::WorkContext& m_work;
};

class BaselineReader : public why::Reader {
  public:
    BaselineReader(const debug::View& view, debug::RecordedRun& baseline, const base::WorkContext& work)
        : m_view(view), m_baseline(baseline), m_work(work) {}
    base::Result<Value> value(NodeId node) override {
        return debug::shownValue(m_view, &m_baseline, debug::ShownValues::Baseline, node, m_work);
    }
    base::Result<Value> valueIn(NodeId node, const std::vector<std::int64_t>& iterations, bool isLast) override {
        auto here = value(node);  // which brings the baseline as far
        auto found = debug::valueInPass(m_baseline, node, iterations, m_work);
        return !found && isLast && found.error().kind == base::ErrorKind::Usage ? here : found;
    }

  private:
    const debug::View& m_view;
    debug::RecordedRun& m_baseline;
    const base::WorkContext& m_work;
};

bool isReferenceFile(const std::string& path) {
    std::string ending = std::filesystem::path(fileAndCase(path).first).extension().string();
    std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
    return ending == ".npz";
}

}  // namespace

ChainReference chainReferenceOf(const Session& session, const std::string& file) {
    const RunSettings& settings = session.runs().settings();
    return {nullptr, file, settings.seed, settings.threads};
}

ChainReference chainReference(Session& session, bool isDebugged) {
    ChainReference reference;
    if (isDebugged && session.debugger().isCounterfactual()) {
        if (auto baseline = session.debugger().baselineRun()) reference.baseline = std::move(*baseline);
        return reference;
    }
    const std::string file = comparedFile(session.comparison());
    return file.empty() ? reference : chainReferenceOf(session, file);
}

base::Result<why::Chain> followChain(const debug::View& view, const why::Place& place, why::Reader& reader,
                                     const ChainReference& reference, bool mustDiffer, const why::ChainOptions& options,
                                     const base::WorkContext& work) {
    const graph::InternalGraph& graph = *view.document().graph;
    if (reference) {
        why::ReferenceChainOptions full{options.hops, options.terms};
        // Two runs of one engine differ in nothing else.
        if (reference.baseline) full.tolerance = 0;
        auto chain = [&]() -> base::Result<why::Chain> {
            if (reference.baseline) {
                BaselineReader right(view, *reference.baseline, work);
                return why::referenceChain(graph, place, reader, right, full, work);
            }
            if (isReferenceFile(reference.file)) {
                FileReader right(view, reference.file, work);
                return why::referenceChain(graph, place, reader, right, full, work);
            }
            SONDE_ASSIGN(const auto right, ModelReference::of(view, reference.file, {reference.seed, reference.threads},
                                                              work, ModelReferenceCache::shared()));
            return why::referenceChain(graph, place, reader, *right, full, work);
        }();
        if (chain || mustDiffer || chain.error().kind != base::ErrorKind::Usage) return chain;
    }
    return why::chain(graph, place, reader, options, work);
}

}  // namespace sonde::session

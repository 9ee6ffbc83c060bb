#include "core/session/load_and_run/form_choice.h"

#include <fmt/format.h>
#include <map>
#include <optional>

#include "core/base/visible_text.h"
#include "core/exec/runner.h"
#include "core/graph/missing_data.h"
#include "core/graph/source_files.h"

namespace sonde::session {

using tensor::Value;

namespace {

/// Layouts by the devices that they are meant for; empty: the default.
std::vector<std::string> layoutsFor(const std::string& target) {
    static const std::map<std::string, std::vector<std::string>> layouts{
        {"cpu", {"", "nchw44", "nchw44_dot", "nchw88"}},
        {"cuda", {"", "nchw4", "nchw32", "nchw64", "chwn4"}},
        {"unspec", {"", "nchw4", "nchw44", "nchw44_dot", "nchw88", "nchw32", "nchw64", "chwn4", "hwcd4"}},
    };
    const auto known = layouts.find(target);
    return known == layouts.end() ? std::vector<std::string>{""} : known->second;
}

/// Puts the graph into the form that the options ask for.
class FormChoice {
  public:
    FormChoice(const LoadAndRunTask& task, const document::TestCases& plain, const CaseValues& first,
               const base::WorkContext& work)
        : m_task(task), m_plain(plain), m_first(first), m_work(work) {}

    base::Result<document::TestCases> choose() {
        const LoadAndRunOptions& options = m_task.options;
        if (!options.layoutTransform.empty() && !options.inference.layout.empty())
            return base::usageError("--layout_transform chooses the layout itself",
                                    "--enable_" + options.inference.layout, "leave out one of the two");
        const bool changes = options.optimize || !options.layoutTransform.empty();
        if (changes && !m_task.form) return base::usageError("options that change the graph are not supported here");
        if (options.layoutTransform.empty()) return options.optimize ? made(options.inference) : m_plain;
        return fastest();
    }

  private:
    base::Result<document::TestCases> made(const io::dump::InferenceOptions& options) const {
        std::vector<Value> example;
        for (const document::NamedNode& input : m_task.document->inputs) {
            const auto found = m_first.find(m_task.document->graph->node(input.node).name);
            example.push_back(found == m_first.end() ? Value() : found->second);
        }
        return m_task.form(*m_task.document, m_plain, options, example, m_work);
    }

    /// A layout that cannot be made, or fails, is left out; the default one must run.
    base::Result<document::TestCases> fastest() const {
        std::optional<document::TestCases> best;
        std::int64_t bestNs = 0;
        std::string bestLayout;
        for (const std::string& layout : layoutsFor(m_task.options.layoutTransform)) {
            io::dump::InferenceOptions options = m_task.options.inference;
            options.layout = layout;
            const std::string name = layout.empty() ? "default" : layout;
            auto form = made(options);
            auto time = form ? timeOf(*form) : base::Result<std::int64_t>(form.error());
            if (!time) {
                if (time.error().kind == base::ErrorKind::Cancelled || layout.empty()) return std::move(time).error();
                tell("layout_transform: " + name + ": " + base::visibleText(time.error().what));
                continue;
            }
            tell(fmt::format("layout_transform: {}: {:.3f}ms", name, inMilliseconds(*time)));
            if (best && *time >= bestNs) continue;
            best = std::move(*form);
            bestNs = *time;
            bestLayout = name;
        }
        tell("layout_transform: chosen: " + bestLayout);
        if (!m_task.options.layoutTransformDump.empty()) SONDE_TRY(write(*best));
        return std::move(*best);
    }

    base::Result<std::int64_t> timeOf(const document::TestCases& form) const {
        constexpr int kRuns = 3;
        SONDE_ASSIGN(const auto plan, exec::Plan::make(withoutThrows(form, *m_task.document), {}));
        exec::Runner runner(m_task.options.threads);
        const std::vector<Value> inputs = valuesFor(*form.graph, m_first);
        std::int64_t bestNs = 0;
        for (int i = 0; i <= kRuns; ++i) {
            const exec::Recording recording = runner.run(*plan, inputs, m_work);
            if (recording.error) return *recording.error;
            if (i == 1 || (i > 1 && recording.totalNs < bestNs)) bestNs = recording.totalNs;
        }
        return bestNs;
    }

    base::Result<void> write(const document::TestCases& form) const {
        io::dump::DumpFile dump;
        dump.graph = graph::withFiles(form.graph, graph::filesOf(m_task.document->graph));
        for (const document::NamedNode& output : m_task.document->outputs) dump.outputNames.push_back(output.name);
        dump.metadata = form.metadata;
        dump.cases = m_plain.cases;
        auto written = io::dump::writeDump(m_task.options.layoutTransformDump, dump);
        return written ? base::Result<void>() : std::move(written).error();
    }

    void tell(const std::string& line) const {
        if (m_task.tell) m_task.tell(line);
    }

    const LoadAndRunTask& m_task;
    const document::TestCases& m_plain;
    const CaseValues& m_first;
    const base::WorkContext& m_work;
};

}  // namespace

base::Result<document::TestCases> chosenForm(const LoadAndRunTask& task, const document::TestCases& plain,
                                             const CaseValues& first, const base::WorkContext& work) {
    return FormChoice(task, plain, first, work).choose();
}

std::shared_ptr<const graph::InternalGraph> withoutThrows(const document::TestCases& tests,
                                                          const document::Document& document) {
    auto graph = std::make_shared<graph::InternalGraph>(*tests.graph);
    for (const document::OutputCheck& check : tests.checks)
        graph->mutableExpr(graph->node(check.error).producer).attributes.set("throws", std::int64_t{0});
    return graph::withKeptOf(std::move(graph), document.graph);
}

}  // namespace sonde::session

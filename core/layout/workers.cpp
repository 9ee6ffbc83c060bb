#include "core/layout/workers.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "core/base/helper_program.h"
#include "core/layout/engine/layered.h"
#include "core/layout/engine/pack.h"
#include "core/layout/worker_process.h"

namespace sonde::layout {

namespace fs = std::filesystem;

namespace {

constexpr const char* kProgram = "sonde-layout-worker";
constexpr std::chrono::milliseconds kMinBudget{50};  ///< for one of several parts

/// How long `dot` takes by experience, in milliseconds: measured on chains with skip edges, random, dense and complete
/// graphs of up to 9000 boxes and places; right within a factor of two above 20 ms, but for one graph in a dozen that
/// takes five times as long.
double msForEffort(std::size_t effort) {
    const double size = static_cast<double>(effort) / 1000;
    return 10 * size + 14 * size * size;
}

/// What is expected must be so many times shorter than the budget: whoever opens a level waits for the unlucky graphs
/// too, and for a machine that does something else besides.
constexpr double kSafetyFactor = 10;

/// Of writing a graph, waking the helper, and reading the answer.
constexpr double kMsToAsk = 0.15;

/// No box has more than one edge on either side: Graphviz could do nothing better.
bool isChain(const BoxGraph& graph) {
    std::vector<std::uint8_t> in(graph.boxes.size(), 0), out(graph.boxes.size(), 0);
    for (const BoxEdge& edge : graph.edges) {
        if (edge.from == edge.to || ++out[edge.from] > 1 || ++in[edge.to] > 1) return false;
    }
    return graph.edges.size() + 1 == graph.boxes.size() || graph.boxes.size() == 1;
}

}  // namespace

class LayoutWorkers::Impl {
  public:
    explicit Impl(Options options)
        : program(std::move(options.program)), slots(std::max<std::size_t>(1, options.processes)) {
        if (program.empty()) program = findProgram();
    }

    struct Slot {
        WorkerProcess process;
        bool busy = false;
    };

    /// A connected graph.
    /// What the user allows for a graph, and what earlier parts of it left.
    struct Budget {
        std::chrono::milliseconds whole, left;
    };

    base::Result<BoxLayout> layoutPart(const BoxGraph& graph, const base::WorkContext& work, Budget budget);

    /// A free slot, a living process before one that must be started; null if stopped while waiting.
    Slot* acquire(const std::stop_token& stop) {
        std::unique_lock lock(mutex);
        Slot* found = nullptr;
        freed.wait(lock, stop, [&] {
            for (Slot& slot : slots) {
                if (!slot.busy && (!found || (slot.process.alive() && !found->process.alive()))) found = &slot;
            }
            return found != nullptr;
        });
        if (found) found->busy = true;
        return found;
    }
    void release(Slot* slot) {
        {
            const std::lock_guard lock(mutex);
            slot->busy = false;
        }
        freed.notify_one();
    }

    fs::path program;
    std::mutex mutex;
    std::condition_variable_any freed;
    std::vector<Slot> slots;
};

LayoutWorkers::LayoutWorkers() : LayoutWorkers(Options{}) {}
LayoutWorkers::LayoutWorkers(Options options) : m_impl(std::make_unique<Impl>(std::move(options))) {}
LayoutWorkers::~LayoutWorkers() = default;

const fs::path& LayoutWorkers::program() const { return m_impl->program; }
std::size_t LayoutWorkers::processes() const { return m_impl->slots.size(); }

void LayoutWorkers::start() {
    const std::lock_guard lock(m_impl->mutex);
    for (Impl::Slot& slot : m_impl->slots) {
        if (!slot.busy) slot.process.start(m_impl->program);
    }
}

std::vector<int> LayoutWorkers::processIds() const {
    const std::lock_guard lock(m_impl->mutex);
    std::vector<int> ids;
    for (const Impl::Slot& slot : m_impl->slots) {
        if (slot.process.alive()) ids.push_back(slot.process.pid());
    }
    return ids;
}

fs::path LayoutWorkers::findProgram() { return base::findHelperProgram(kProgram, "SONDE_LAYOUT_WORKER"); }

double LayoutWorkers::expectedMs(const BoxGraph& graph, std::chrono::milliseconds budget) {
    double all = 0;
    forEachPart(graph, [&](const BoxGraph& part) {  // one request each
        if (part.boxes.size() < 2 || isChain(part)) return;
        const double ms = msForEffort(layoutEffort(part));
        if (kSafetyFactor * ms <= static_cast<double>(budget.count())) all += kMsToAsk + ms;
    });
    return all;
}

base::Result<BoxLayout> LayoutWorkers::layout(const BoxGraph& graph, const base::WorkContext& work,
                                              std::chrono::milliseconds budget) {
    SONDE_TRY(validate(graph));
    const auto begin = std::chrono::steady_clock::now();
    return layoutParts(graph, [&](const BoxGraph& part) {
        const auto gone =
            std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
        // Many small parts, each quick, may take longer than one budget together.
        return m_impl->layoutPart(part, work, {budget, std::max(budget - gone, std::min(budget, kMinBudget))});
    });
}

base::Result<BoxLayout> LayoutWorkers::Impl::layoutPart(const BoxGraph& graph, const base::WorkContext& work,
                                                        Budget budget) {
    auto layered = [&](std::string why) -> base::Result<BoxLayout> {
        SONDE_ASSIGN(BoxLayout layout, layoutLayered(graph, work));
        layout.note = std::move(why);
        return layout;
    };
    if (graph.boxes.size() < 2 || isChain(graph)) return layered({});
    if (program.empty()) return layered("the layout helper (sonde-layout-worker) is not installed");
    const std::size_t effort = layoutEffort(graph);
    if (kSafetyFactor * msForEffort(effort) > static_cast<double>(budget.left.count())) {
        return layered("too large to be sure that Graphviz ends within " + std::to_string(budget.whole.count()) +
                       " ms");
    }
    const std::vector<std::byte> request = encode(graph);
    Slot* slot = acquire(work.stop);
    if (!slot) return base::cancelled("laying out");
    const WorkerProcess::Answer answer = slot->process.ask(program, request, budget.left, work.stop);
    std::optional<BoxLayout> layout;
    if (answer.outcome == WorkerProcess::Outcome::Reply) {
        auto decoded = decodeLayout(answer.bytes);
        if (decoded && answers(*decoded, graph)) layout = std::move(decoded).value();
        else slot->process.end();
    }
    release(slot);
    if (layout) return std::move(*layout);
    switch (answer.outcome) {
        case WorkerProcess::Outcome::Stopped: return base::cancelled("laying out");
        case WorkerProcess::Outcome::TooLate:
            return layered("Graphviz did not end within " + std::to_string(budget.whole.count()) + " ms");
        case WorkerProcess::Outcome::Broken: return layered("the layout helper crashed");
        case WorkerProcess::Outcome::NoProgram:
            return layered("the layout helper cannot be started (" + program.string() + ")");
        case WorkerProcess::Outcome::Refused: return layered("Graphviz refused the graph");
        case WorkerProcess::Outcome::Reply: break;
    }
    return layered("the layout helper returned an invalid answer");
}

}  // namespace sonde::layout

#pragma once

#include <memory>
#include <vector>

#include "core/document/document.h"
#include "core/expression/expression.h"
#include "core/session/debug/place.h"

namespace sonde::session::debug {

/// A run as it is seen from one place. Not thread-safe, as the run itself is not; while values are asked for, others
/// may read the run's trace.
class View {
  public:
    View(std::shared_ptr<const document::Document> document, std::shared_ptr<RecordedRun> run, Place place)
        : m_document(std::move(document)), m_run(std::move(run)), m_place(std::move(place)) {}

    const document::Document& document() const { return *m_document; }
    RecordedRun& run() const { return *m_run; }
    const Place& place() const { return m_place; }

    /// The item that value() has the value of; none of what is there in every run, and if there is no value.
    ItemId itemOf(graph::NodeId node) const { return itemOf(*m_run, m_place, node); }
    static ItemId itemOf(const RecordedRun& run, const Place& place, graph::NodeId node);
    /// The value of a node there: what was computed before, and what the operation there itself gives if that is done
    /// and nothing is inside of it. Computes nothing but what was dropped. Usage error: it is not computed yet.
    base::Result<tensor::Value> value(graph::NodeId node, const base::WorkContext& work = {}) const;
    base::Result<tensor::Value> evaluate(const expression::Expression& expression,
                                         const base::WorkContext& work = {}) const;

    /// Does the operation there, if nothing is inside of it, so that its value is there. It may fail, which ends the
    /// run.
    void doCurrent(const base::WorkContext& work) const;

  private:
    std::shared_ptr<const document::Document> m_document;
    std::shared_ptr<RecordedRun> m_run;
    Place m_place;
};

/// Which values of a run with edits are looked at.
enum class ShownValues : std::uint8_t {
    Counterfactual,  ///< those of the run
    Baseline,        ///< without the edits
    Difference       ///< the first less the second; of what does not change so the first
};

/// A value at a view's place. `baseline`: the run without edits, which is brought to the place; null: the view's run
/// has none. Errors: those of View::value(); there is no difference of these types.
base::Result<tensor::Value> shownValue(const View& view, RecordedRun* baseline, ShownValues shown, graph::NodeId node,
                                       const base::WorkContext& work = {});

/// The value that a node had in an iteration of the loops around it, as Trace::passOf() has them. Error (Usage): the
/// run has no such iteration, or has not come to it.
base::Result<tensor::Value> valueInPass(RecordedRun& run, graph::NodeId node, const std::vector<std::int64_t>& pass,
                                        const base::WorkContext& work = {});

/// What a module gave when it was run alone.
struct ModuleRun {
    std::vector<graph::NodeId> nodes;   ///< its operations' results, in order
    std::vector<tensor::Value> values;  ///< of those
    std::vector<graph::NodeId> inputs;  ///< what it read from outside
    bool isSame = true;                 ///< bit for bit as in the run
};

/// Does the operations of a module's last call again, on the inputs that it had in the run. Usage error: it was not
/// run, or runs code of the model's own.
base::Result<ModuleRun> runAlone(RecordedRun& run, std::string_view qualname, const base::WorkContext& work = {});

}  // namespace sonde::session::debug

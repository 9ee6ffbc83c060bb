#pragma once

#include <QString>

#include <optional>
#include <vector>

#include "core/analysis/tensor_stats.h"
#include "ui/context/comparison.h"
#include "ui/context/open_model.h"
#include "ui/context/runs.h"
#include "ui/context/value_measures.h"

namespace sonde::context {
class Engine;
class Precision;
}  // namespace sonde::context

namespace sonde::models {

/// One thing that can be told of every node: a column of the node table, and what nodes may be coloured by.
struct NodeColumn {
    QString id;  ///< "time"; settings and the query language know it by this name
    QString title;
    bool numeric = false;
    bool adds = false;     ///< the numbers of several nodes make a sum that means something
    bool colours = false;  ///< offered as a colouring
    int width = 100;       ///< of the table's column at first, in pixels
    /// Where the numbers come from: a run of its own (ValueMeasures), a comparison, the weights that were read
    /// (Weights), the measuring of a lower precision, or a profile. Nothing is known before.
    enum class Source { Graph, Values, Comparison, Weights, Precision, Profile } source = Source::Graph;
    bool isSigned = false;     ///< less than 0 means as much as more: colours go both ways from 0
    bool logarithmic = false;  ///< numbers are apart by orders of magnitude
};

// clang-format off
enum NodeColumnIndex {
    NumberColumn, NameColumn, ModuleColumn, ClassColumn, OperatorColumn, CategoryColumn, ShapeColumn, DTypeColumn,
    ElementsColumn, BytesColumn, ParametersColumn, ReadersColumn, TimeColumn,
    MeanColumn, DeviationColumn, MinimumColumn, MaximumColumn, BadColumn, ZerosColumn, DifferenceColumn, RelativeColumn,
    WeightZerosColumn, WeightOutliersColumn, WeightDeviationColumn,
    FlopsColumn, TrafficColumn, IntensityColumn, ActivationColumn, FieldColumn, DepthColumn, EngineTimeColumn,
    PrecisionColumn, ProfiledTimeColumn, ProfiledMemoryColumn, ProfiledIntensityColumn, FlopRateColumn, ByteRateColumn,
    AttributesColumn, SourceColumn, NoteColumn, NodeColumnCount
};
// clang-format on

/// In the order of NodeColumnIndex.
const std::vector<NodeColumn>& nodeColumns();
int nodeColumnIndex(const QString& id);  ///< also by the title's word ("std"); -1 if there is none
/// What scripts call the column with this id: "std" for "deviation", else the id.
QString nodeColumnWord(const QString& id);
/// A number of a column as people read it: "1.20 ms", "4.0 MiB", "2,359,296".
QString nodeColumnText(int column, double number);

/// The sum of an adding column over some nodes, as it stands below a table.
struct ColumnSum {
    double known = 0;
    std::size_t unknown = 0;  ///< nodes that have such a number, which is not known: dim sizes that are open

    /// "memory 134.5 MiB"; "memory at least 524 bytes, 213 nodes unknown"; empty if there is nothing to tell.
    QString text(int column) const;
};

/// What the columns say of the nodes of the open model. Cheap to make; what is dear is computed once when first asked.
class NodeMeasures {
  public:
    NodeMeasures(const context::OpenModel& opened, const context::Runs& runs, const context::ValueMeasures& statistics,
                 const context::Comparison& comparison, const context::Precision* precision = nullptr,
                 const context::Engine* engine = nullptr)
        : m_opened(opened), m_runs(runs), m_statistics(statistics), m_comparison(comparison), m_precision(precision),
          m_engine(engine) {}

    const graph::InternalGraph& graph() const { return m_opened.graph(); }
    QString text(int column, graph::NodeId node) const;
    /// Of numeric columns; nothing if it is not known. Numbers of an operation (time, parameters) are those of its
    /// first output, so that sums count them once; time is without that of operations inside. What a called module
    /// takes and returns is counted where it is made: the call's own results and the inputs inside have no memory.
    std::optional<double> number(int column, graph::NodeId node) const;
    /// Adds the number of a node, or that it is not known.
    void addTo(ColumnSum& sum, int column, graph::NodeId node) const;
    /// Whether the node has something bad that a column says: NaN or infinite elements, a difference above the
    /// tolerance.
    bool isBad(int column, graph::NodeId node) const;
    /// Why the numbers of a column are not those of the present inputs: the run that they are of is stale. Empty if
    /// they are, and of columns that need no run; stale comparisons have no numbers.
    QString staleReason(int column) const;
    /// Why no difference is known: there is no comparison, or it is stale.
    QString comparisonNote() const;
    /// What is to be said beside a title of a column: "with 2 edits" of one that is of a comparison; else empty.
    QString basisOf(int column) const;
    /// Whether a column is of costs that are expressions in open sizes until a run gives these.
    bool isOfOpenSizes(int column) const;
    /// Why nothing is known of a column that needs no run.
    QString graphNote(int column) const;
    /// What nodes are coloured alike by: the text, but of modules the outermost one that tells them apart.
    QString group(int column, graph::NodeId node) const;
    /// Forgets what was computed: another model, another run.
    void reset();

  private:
    /// Null of a node that the run which is shown did not come to.
    const analysis::TensorStats* measured(graph::NodeId id) const;
    const std::vector<std::int64_t>& parameters() const;
    const std::vector<std::int64_t>& times() const;

    const context::OpenModel& m_opened;
    const context::Runs& m_runs;
    const context::ValueMeasures& m_statistics;
    const context::Comparison& m_comparison;
    const context::Precision* m_precision;                    ///< null: nobody asks for its column
    const context::Engine* m_engine;                          ///< the same
    mutable std::vector<std::int64_t> m_parameters, m_times;  // by ExprId
};

}  // namespace sonde::models

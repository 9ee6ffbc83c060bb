#include "core/session/edits/edited_model.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <tuple>

#include "core/analysis/edited_values.h"
#include "core/exec/flatten.h"
#include "core/exec/runner.h"
#include "core/expression/expression.h"
#include "core/graph/edit_origin.h"
#include "core/graph/missing_data.h"
#include "core/graph/replace_constant.h"
#include "core/graph/source_files.h"
#include "core/io/npz/npy.h"
#include "core/session/edits/changed_elements.h"
#include "core/session/edits/edit_count.h"
#include "core/session/edits/operation_writer.h"
#include "core/session/edits/slice_steps.h"

namespace sonde::session {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

/// The same elements with size 1 in place of axes along which they do not differ: of `together`, which have one shape,
/// all or none.
base::Result<std::vector<Tensor>> narrowed(std::vector<Tensor> together) {
    for (std::size_t axis = 0; axis < together.front().rank(); ++axis) {
        bool isSame = together.front().dim(axis) > 0;
        for (std::int64_t i = 1; isSame && i < together.front().dim(axis); ++i)
            for (const Tensor& each : together) {
                SONDE_ASSIGN(const Tensor first, each.sliced(axis, 0, 1).contiguous());
                SONDE_ASSIGN(const Tensor other, each.sliced(axis, i, 1).contiguous());
                isSame = isSame && std::memcmp(first.bytes(), other.bytes(), first.sizeBytes()) == 0;
            }
        if (!isSame) continue;
        for (Tensor& each : together) {
            SONDE_ASSIGN(each, each.sliced(axis, 0, 1).contiguous());
        }
    }
    return together;
}

/// What an edit is to a tensor of one shape, as constants: where it writes, and what.
struct Written {
    Tensor mask;    ///< bool
    Tensor values;  ///< of the tensor's dtype; what is added, of noise
};

/// Adds the operations of one edit behind a node.
class EditWriter : private OperationWriter {
  public:
    EditWriter(const document::Document& document, InternalGraph& graph, const TypesOfRun& types)
        : OperationWriter(graph), m_document(document), m_types(types), m_graph(graph) {}

    /// What is said of edits that were written for one shape only.
    base::Diagnostics takeNotes() { return std::move(m_notes); }

    /// The node that has the value after the edit. `x` is what has it before.
    base::Result<NodeId> add(const ReadyEdit& ready, NodeId x, const std::string& name) {
        m_edited = m_document.graph->node(ready.node()).name;
        const auto inRun = m_types.find(ready.node());
        m_inRun = inRun == m_types.end() ? nullptr : &inRun->second;
        begin(x, name, m_edited);
        m_type = m_graph.node(x).type;
        if (m_inRun && (!m_type.isTensor() || m_type.dtype == DType::Undefined)) m_type = ofRun();
        SONDE_ASSIGN(const NodeId last, operations(ready, x));
        if (!missing().empty())
            return refused(ready, "opset " + std::to_string(opset()) + " has no operator " + missing(),
                           "give inputs (--input-data): it is written for their shape then; or convert the model to a "
                           "newer opset first");
        m_graph.setType(last, m_type);
        finish(x, last);
        return last;
    }

  private:
    /// Open dims stay open.
    tensor::TypeInfo ofRun() const {
        tensor::TypeInfo type = *m_inRun;
        if (type.shape) type.shape = std::vector<tensor::Dim>(type.shape->size());
        return type;
    }

    static base::Error refused(const ReadyEdit& ready, const std::string& why, std::string hint = {}) {
        return base::usageError("the edit '" + editText(ready.edit()) + "' cannot be written into a model: " + why, {},
                                std::move(hint));
    }

    base::Result<NodeId> operations(const ReadyEdit& ready, NodeId x) {
        const Edit& edit = ready.edit();
        if (!ready.hasFixedSlice())
            return refused(ready, "its slice depends on values of the run", "write the slice with numbers");
        const bool isOverwritten = edit.kind == Edit::Kind::Expression || edit.kind == Edit::Kind::File;
        if (isOverwritten && !ready.writesConstants())
            return refused(ready, "its value depends on values of the run", "set numbers, or scale it");
        if (!m_type.isTensor() || m_type.dtype == DType::Undefined)
            return refused(ready, "the dtype of its value is not known");
        if (edit.kind == Edit::Kind::Scale && edit.slice.empty()) return product(edit, x);
        const bool isNoise = edit.kind == Edit::Kind::Noise;
        std::optional<Shape> known = shapeFor(ready);
        const bool isOpen = !known;
        if (isOpen) {
            auto open = whileShapeIsOpen(ready, x);
            if ((open && missing().empty()) || !m_inRun || !m_inRun->staticShape()) return open;
            takeBack();
            known = m_inRun->staticShape();
            m_notes.push_back({base::Severity::Warning,
                               "the edit '" + editText(edit) + "' is written for the shape of the run, " +
                                   known->text() + ": the model takes no other there",
                               m_edited,
                               {}});
        }
        const Shape& shape = *known;
        // Noise is there to be checked with.
        if (isOpen && !isNoise) {
            SONDE_ASSIGN(const NodeId zeros, zerosOf(shape));
            x = checked(x, zeros, shape).first;
        }
        if (edit.kind == Edit::Kind::Swap) return swapped(ready, x, shape);
        SONDE_ASSIGN(Written written, writtenBy(ready, shape));
        if (has("Where") && !(isOpen && isNoise)) {
            SONDE_ASSIGN(const std::vector<Tensor> small, narrowed({written.mask, written.values}));
            written = {small[0], small[1]};
        }
        NodeId values;
        if (edit.kind == Edit::Kind::Scale) {
            SONDE_ASSIGN(values, product(edit, x));
        } else {
            values = constant(written.values, "values");
            if (isNoise && isOpen) std::tie(x, values) = checked(x, values, shape);
            if (isNoise) values = apply("Add", {x, values}, "sum");
        }
        return has("Where") ? chosen(constant(written.mask, "mask"), values, x)
                            : picked(written.mask, values, x, shape);
    }

    base::Result<NodeId> zerosOf(const Shape& shape) {
        if (has("Expand")) {
            SONDE_ASSIGN(const Tensor zero, Tensor::zeros(m_type.dtype, {}));
            return apply("Expand", {constant(zero, "zero"), row({shape.begin(), shape.end()}, "shape")}, "zeros");
        }
        SONDE_ASSIGN(const Tensor zeros, Tensor::zeros(m_type.dtype, shape));
        return constant(zeros, "zeros");
    }

    /// The same as chosen() where there is no Where: the elements of both in one row, and of that the right ones.
    base::Result<NodeId> picked(const Tensor& mask, NodeId values, NodeId x, const Shape& shape) {
        SONDE_ASSIGN(Tensor order, Tensor::allocate(DType::Int64, Shape{mask.numel()}));
        const std::span<std::int64_t> from = order.mutableSpan<std::int64_t>();
        for (std::int64_t i = 0; i < mask.numel(); ++i)
            from[static_cast<std::size_t>(i)] = mask.data<bool>()[i] ? mask.numel() + i : i;
        const NodeId both = joined(flat(x, "elements"), flat(values, "written"), "row");
        return reshaped(gathered(both, constant(order, "order"), 0, "picked"), shape, "");
    }

    /// `values` where the mask holds, else x. ONNX Runtime has no Where for some dtypes: it is done in one that has
    /// room for all of their numbers.
    NodeId chosen(NodeId mask, NodeId values, NodeId x) {
        const DType own = m_type.dtype, as = chosenAs(own);
        if (as == own) return apply("Where", {mask, values, x}, "");
        const NodeId wide = apply("Where", {mask, cast(values, as, "wide_values"), cast(x, as, "wide")}, "chosen");
        return cast(wide, own, "");
    }
    static DType chosenAs(DType dtype) {
        switch (dtype) {
            case DType::Bool: return DType::UInt8;
            case DType::Int8:
            case DType::Int16:
            case DType::UInt16: return DType::Int32;
            case DType::UInt32: return DType::Int64;
            case DType::BFloat16: return DType::Float32;
            default: return dtype;
        }
    }

    /// The shape for masks: dims that are not known are 1, where the edit is the same along them. Nothing if it is not,
    /// or nothing is broadcast along them.
    std::optional<Shape> shapeFor(const ReadyEdit& ready) const {
        const Edit& edit = ready.edit();
        const bool needsAll = !edit.slice.empty() || edit.kind == Edit::Kind::Noise || !has("Where");
        const bool needsAxis = edit.kind == Edit::Kind::Swap || edit.kind == Edit::Kind::Remove;
        Shape shape;
        if (!m_type.shape) return needsAll || needsAxis ? std::nullopt : std::optional(shape);
        const auto axis = needsAxis ? tensor::normalizedAxis(edit.axis, m_type.shape->size()) : std::nullopt;
        for (std::size_t i = 0; i < m_type.shape->size(); ++i) {
            const tensor::Dim& dim = (*m_type.shape)[i];
            if (!dim.known() && (needsAll || axis == i)) return std::nullopt;
            shape.push_back(dim.known() ? dim.value : 1);
        }
        return shape;
    }

    // ---- where the shape is known only in a run

    base::Error openShape(const ReadyEdit& ready, const std::string& why, std::string hint = {}) const {
        return refused(ready, "the shape of the value, " + m_type.text() + ", is not fixed" + why, std::move(hint));
    }

    /// Positions are chosen as the elements are, and written to one by one.
    base::Result<NodeId> whileShapeIsOpen(const ReadyEdit& ready, NodeId x) {
        const Edit& edit = ready.edit();
        if (!m_type.shape) return openShape(ready, "", "edit all of the value");
        const auto steps = stepsOf(edit.slice, m_type.shape->size());
        if (!steps) return openShape(ready, ", and its slice has more than numbers and ranges");
        if (edit.kind == Edit::Kind::Noise)
            return openShape(ready, ", and each element has noise of its own", "load it from a file, or edit a weight");
        if (edit.parts > 0)
            return openShape(ready, ", and so its parts are not known", "count single elements of the axis");
        const NodeId dims = apply("Shape", {x}, "dims");
        const NodeId all = apply("Reshape", {range(apply("Size", {x}, "count")), dims}, "positions");
        NodeId chosen = sliced(all, *steps);
        const std::size_t rank = steps->rank();
        const auto axis = tensor::normalizedAxis(edit.axis, rank);
        const bool hasAxis = edit.kind == Edit::Kind::Swap || edit.kind == Edit::Kind::Remove;
        if (hasAxis && !axis) return refused(ready, "there is no axis " + std::to_string(edit.axis));
        const NodeId elements = flat(x, "elements");
        NodeId values;
        if (edit.kind == Edit::Kind::Swap) {
            const NodeId order = scattered(range(dimOf(chosen, *axis)), row(edit.indices, "both"),
                                           row({edit.indices[1], edit.indices[0]}, "others"), "order");
            values = gathered(elements, gathered(chosen, order, static_cast<std::int64_t>(*axis), "moved"), 0, "from");
        } else if (edit.kind == Edit::Kind::Scale) {
            SONDE_ASSIGN(values, product(edit, gathered(elements, chosen, 0, "chosen")));
        } else {
            if (edit.kind == Edit::Kind::Remove)
                chosen = gathered(chosen, row(edit.indices, "removed"), static_cast<std::int64_t>(*axis), "channels");
            SONDE_ASSIGN(const Tensor written, overwritten(ready, rank));
            values = apply("Expand", {constant(written, "values"), apply("Shape", {chosen}, "size")}, "written");
        }
        const NodeId changed = scattered(elements, flat(chosen, "at"), flat(values, "now"), "changed");
        return apply("Reshape", {changed, dims}, "");
    }

    /// What is written, of the value's dtype and with no more than `rank` dimensions.
    base::Result<Tensor> overwritten(const ReadyEdit& ready, std::size_t rank) const {
        if (ready.edit().kind == Edit::Kind::Zero || ready.edit().kind == Edit::Kind::Remove)
            return Tensor::zeros(m_type.dtype, {});
        SONDE_ASSIGN(Tensor tensor, given(ready.edit()));
        while (tensor.rank() > rank && tensor.dim(0) == 1) tensor = tensor.selected(0, 0);
        return fittingElements(tensor, m_type.dtype, tensor.shape());
    }

    /// What an Expression or File writes, before it is broadcast: of names of constants.
    base::Result<Tensor> given(const Edit& edit) const {
        if (edit.kind == Edit::Kind::File) return io::readNpyFile(edit.text);
        SONDE_ASSIGN(const expression::Expression parsed, expression::parse(edit.text));
        const auto names = [this](std::string_view name) -> base::Result<Value> {
            SONDE_ASSIGN(const NodeId node, ReadyEdit::find(m_document, name));
            const NodeId source = exec::valueSources(*m_document.graph)[node.index()];
            const auto& constant = m_graph.node(source).constant;
            if (!constant) return base::usageError("'" + std::string(name) + "' is no constant");
            return *constant;
        };
        return expression::evaluateArray(parsed, names, {});
    }

    /// An edit that writes the same whatever is there leaves two different tensors equal where it does.
    base::Result<Written> writtenBy(const ReadyEdit& ready, const Shape& shape) const {
        const Edit& edit = ready.edit();
        const bool isMasked = edit.kind == Edit::Kind::Scale || edit.kind == Edit::Kind::Noise;
        const ReadyEdit writes = isMasked ? ready.with(Edit::Kind::Zero) : ready;
        SONDE_ASSIGN(const Tensor zeros, applied(writes, 0, shape));
        SONDE_ASSIGN(const Tensor others, applied(writes, 1, shape));
        SONDE_ASSIGN(Tensor mask, Tensor::allocate(DType::Bool, shape));
        const std::size_t itemBytes = tensor::itemSize(zeros.dtype());
        for (std::int64_t i = 0; i < mask.numel(); ++i) {
            const auto offset = static_cast<std::size_t>(i) * itemBytes;
            mask.mutableData<bool>()[i] = std::memcmp(zeros.bytes() + offset, others.bytes() + offset, itemBytes) == 0;
        }
        Tensor values = zeros;
        if (edit.kind == Edit::Kind::Noise) {
            SONDE_ASSIGN(values, applied(ready, 0, shape));
        }
        return Written{std::move(mask), std::move(values)};
    }

    /// The edit of a tensor in which each byte of each element is `fill`.
    base::Result<Tensor> applied(const ReadyEdit& ready, unsigned char fill, const Shape& shape) const {
        SONDE_ASSIGN(Tensor tensor, Tensor::allocate(m_type.dtype, shape));
        if (tensor.numel() > 0) std::memset(tensor.mutableBytes(), fill, tensor.sizeBytes());
        return changed(ready, std::move(tensor));
    }
    base::Result<Tensor> changed(const ReadyEdit& ready, Tensor tensor) const {
        std::vector<Value> operands;
        for (const NodeId operand : ready.operands()) operands.push_back(*m_graph.node(operand).constant);
        EditPlace place;
        SONDE_ASSIGN(Value after, ready.apply(Value(std::move(tensor)), operands, {}, place));
        return after.tensor();
    }

    base::Result<NodeId> product(const Edit& edit, NodeId x) {
        SONDE_ASSIGN(const Tensor factor, Tensor::scalar<double>(edit.number).cast(m_type.dtype));
        return apply("Mul", {x, constant(factor, "factor")}, edit.slice.empty() ? "" : "product");
    }

    /// By the position that each element comes from; along a whole axis by that of the axis.
    base::Result<NodeId> swapped(const ReadyEdit& ready, NodeId x, const Shape& shape) {
        const Edit& edit = ready.edit();
        const bool isWhole = edit.slice.empty();
        const auto axis = tensor::normalizedAxis(edit.axis, shape.rank());
        if (isWhole && !axis) return refused(ready, "there is no axis " + std::to_string(edit.axis));
        Edit ofPositions = edit;
        if (isWhole) ofPositions.axis = 0;
        SONDE_ASSIGN(Tensor positions, Tensor::allocate(DType::Int64, isWhole ? Shape{shape[*axis]} : shape));
        std::iota(positions.mutableSpan<std::int64_t>().begin(), positions.mutableSpan<std::int64_t>().end(), 0);
        if (isWhole) {
            auto order = changedElements(ofPositions, std::move(positions));
            if (!order) return refused(ready, order.error().what);
            positions = std::move(*order);
            return gathered(x, constant(positions, "order"), static_cast<std::int64_t>(*axis), "");
        }
        SONDE_ASSIGN(const Tensor from, changed(ready, std::move(positions)));
        SONDE_ASSIGN(const Tensor order, from.reshaped(Shape{from.numel()}));
        return reshaped(gathered(flat(x, "elements"), constant(order, "order"), 0, "moved"), shape, "");
    }

    const document::Document& m_document;  ///< without the edits
    const TypesOfRun& m_types;
    const tensor::TypeInfo* m_inRun = nullptr;  ///< of the edited value; null: there was no run
    base::Diagnostics m_notes;
    InternalGraph& m_graph;
    std::string m_edited;  ///< the node's name
    tensor::TypeInfo m_type;
};

void replaceWeight(InternalGraph& graph, NodeId node, const Value& value) {
    graph::replaceConstant(graph, node, value);
    const graph::Node& weight = graph.node(node);
    graph.mutableExpr(weight.producer).origins = {{std::string(graph::kWeightEditOrigin), weight.name}};
}

std::string freeName(const InternalGraph& graph, std::string name) {
    while (graph.findNode(name).valid()) name += '_';
    return name;
}

}  // namespace

base::Result<std::shared_ptr<const document::Document>> editedDocument(const document::Document& document,
                                                                       const Edits& edits, const TypesOfRun& types) {
    auto graph = std::make_shared<InternalGraph>(*document.graph);
    std::map<NodeId, NodeId> now;  // of edited values, which have it last
    EditWriter writer(document, *graph, types);
    for (const Edits::Entry& entry : edits.all()) {
        if (!entry.edit.isEnabled) continue;
        if (!entry.counts())
            return base::usageError("the edit '" + editText(entry.edit) +
                                    "' is not one of this model: " + entry.problem);
        if (entry.ready->target() == ReadyEdit::Target::Weight)
            for (const NodeId node : entry.ready->nodes()) replaceWeight(*graph, node, entry.weight);
    }
    // Those of values read what weights are at last.
    for (std::size_t i = 0; i < edits.all().size(); ++i) {
        const Edits::Entry& entry = edits.all()[i];
        if (!entry.counts() || entry.ready->target() == ReadyEdit::Target::Weight) continue;
        const NodeId node = entry.ready->node();
        const NodeId before = now.contains(node) ? now[node] : node;
        const std::string name = graph->node(node).name + "_edit" + (i == 0 ? "" : std::to_string(i));
        SONDE_ASSIGN(now[node], writer.add(*entry.ready, before, name));
    }
    for (const auto& [node, last] : now) {
        if (graph->expr(graph->node(node).producer).kind == graph::ExprKind::Input) continue;
        const std::string name = graph->node(node).name;
        SONDE_TRY(graph->rename(node, freeName(*graph, name + std::string(analysis::kBeforeEdits))));
        SONDE_TRY(graph->rename(last, name));
    }
    SONDE_TRY(graph->validate());
    auto edited = std::make_shared<document::Document>(document);
    for (document::NamedNode& output : edited->outputs)
        if (const auto found = now.find(output.node); found != now.end()) output.node = found->second;
    edited->graph = graph::withKeptOf(std::move(graph), document.graph);
    for (base::Diagnostic& note : writer.takeNotes()) edited->diagnostics.push_back(std::move(note));
    return edited;
}

namespace {

/// Edited values, not weights, whose shape or dtype the model leaves open.
std::vector<NodeId> openNodes(const document::Document& document, const Edits& edits) {
    std::vector<NodeId> nodes;
    for (const Edits::Entry& entry : edits.all()) {
        if (!entry.edit.isEnabled || !entry.counts() || entry.ready->target() == ReadyEdit::Target::Weight) continue;
        const tensor::TypeInfo& known = document.graph->node(entry.ready->node()).type;
        if (!known.isTensor() || known.dtype == DType::Undefined || !known.staticShape())
            nodes.push_back(entry.ready->node());
    }
    return nodes;
}

}  // namespace

bool haveOpenTypes(const document::Document& document, const Edits& edits) {
    return !openNodes(document, edits).empty();
}

base::Result<TypesOfRun> typesOfRun(const document::Document& document, const Edits& edits,
                                    const std::vector<Value>& inputs, const base::WorkContext& work) {
    TypesOfRun types;
    exec::PlanOptions options;
    const auto& given = document.graph->inputs();
    for (const NodeId node : openNodes(document, edits)) {
        const auto at = static_cast<std::size_t>(std::ranges::find(given, node) - given.begin());
        if (at < inputs.size()) types[node] = tensor::TypeInfo::of(inputs[at]);
        else options.end.push_back(node);
    }
    if (options.end.empty()) return types;
    options.watch = options.end;
    SONDE_ASSIGN(const auto plan, exec::Plan::make(document.graph, options));
    exec::Runner runner;
    const exec::Recording recording = runner.run(*plan, inputs, work);
    if (recording.error) return *recording.error;
    for (const NodeId node : options.end)
        if (const Value* const value = recording.value(node)) types[node] = tensor::TypeInfo::of(*value);
    return types;
}

base::Result<std::shared_ptr<const document::Document>> withEdits(std::shared_ptr<const document::Document> document,
                                                                  const Edits& edits) {
    if (countingEdits(edits) == 0) return document;
    return editedDocument(*document, edits);
}

}  // namespace sonde::session

#include "core/analysis/infer.h"

#include <algorithm>
#include <cctype>
#include <exception>

#include "core/analysis/infer_index.h"
#include "core/analysis/infer_types.h"
#include "core/analysis/known_values.h"
#include "core/base/current_stop.h"
#include "core/ops/support/common_type.h"
#include "core/tensor/ellipsis_value.h"
#include "core/tensor/slice_value.h"

namespace sonde::analysis {

using graph::Argument;
using graph::Body;
using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using ops::Elements;
using tensor::Dim;
using tensor::DType;
using tensor::Symbolic;
using tensor::TypeInfo;
using tensor::Value;
using tensor::ValueKind;
using tensor::ValueList;

namespace {

constexpr int kDeepest = 200;
/// A loop's body is inferred until its carried types no longer change, at most so often; deeper inside loops once.
constexpr int kMostPasses = 4;
constexpr int kDeepestRepeated = 3;
/// Loops that are gone through pass by pass.
constexpr std::int64_t kMostUnrolled = 64, kMostUnrolledExprs = 1024;
constexpr int kDeepestUnrolled = 2;
/// Of longer lists all elements have one type.
constexpr std::size_t kLongestList = 1024;

/// What is known of a node's value beside its type.
struct Known {
    Value value;                       ///< None: not known
    std::optional<Elements> elements;  ///< in symbols, row-major
    bool isWhole = false;              ///< of a list: its type has an element for each of its own
};

class Inference {
  public:
    Inference(InternalGraph& graph, base::Diagnostics& findings, const ops::Registry& registry)
        : m_graph(graph), m_findings(&findings), m_registry(registry), m_known(graph.nodeCount()), m_pool(1) {
        m_environment.pool = &m_pool;
        m_declared.reserve(graph.nodeCount());
        for (std::size_t i = 0; i < graph.nodeCount(); ++i) m_declared.push_back(graph.node(NodeId(i)).type);
    }

    /// Extents of inputs that the file does not even name get a name, so that what depends on them can be told.
    void nameOpenExtents() {
        for (NodeId input : m_graph.inputs()) {
            TypeInfo& type = m_declared[input.index()];
            const Expr& producer = m_graph.expr(m_graph.node(input).producer);
            // A parameter of Python is what its default is, unless that is None.
            if (!type.kind && !producer.arguments.empty() && producer.arguments.front().kind == Argument::Kind::Constant && !producer.arguments.front().constant.isTensor() &&
                !producer.arguments.front().constant.isNone()) {
                type.kind = producer.arguments.front().constant.kind();
                m_graph.setType(input, type);
            }
            if (!type.isTensor() || !type.shape) continue;
            for (std::size_t i = 0; i < type.shape->size(); ++i) {
                Dim& dim = (*type.shape)[i];
                if (!dim.known() && dim.symbol.empty()) dim.symbol = plainName(m_graph.node(input).name) + "." + std::to_string(i);
            }
            m_graph.setType(input, type);
        }
    }

    void inferBody(BodyId id, int depth) {
        if (depth > kDeepest) return;
        const std::vector<ExprId> order = m_graph.body(id).order;
        for (ExprId expr : order) {
            if (base::stopRequested()) return;
            inferExpr(expr, depth);
        }
    }

  private:
    static std::string plainName(std::string name) {
        for (char& c : name) {
            if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') c = '_';
        }
        return name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0 ? "x" + name : name;
    }

    void inferExpr(ExprId id, int depth) {
        const Expr& expr = m_graph.expr(id);
        if (expr.kind == graph::ExprKind::Input) return;
        if (!expr.outputs.empty()) {
            if (const auto& constant = m_graph.node(expr.outputs.front()).constant) {
                settle(expr.outputs.front(), TypeInfo::of(*constant), {*constant, {}, true});
                return;
            }
        }
        if (expr.op.name.empty() && !expr.bodies.empty()) {
            inferCall(expr, depth);
            return;
        }
        const std::string& name = expr.op.name;
        const bool isControl = !expr.bodies.empty() && (expr.op.domain.empty() || expr.op.domain == "ai.onnx" || expr.op.domain == "prim");
        if (isControl && name == "If") inferBranches(expr, depth);
        else if (isControl && name == "Loop") inferLoop(expr, depth);
        else if (isControl && name == "Scan" && expr.op.version >= 9) inferScan(expr, depth);
        else if (isControl && name == "Scan") inferScanByBatch(expr, depth);
        else if (isControl && name == "SequenceMap") inferMap(expr, depth);
        else if (isControl && name == "cond") inferConditional(expr, depth);
        else if (expr.op.domain == "prim" && name == "append") inferAppend(expr);
        else if (expr.op.domain == "prim" && name == "getitem" && inferIndexed(expr)) return;
        else {
            for (BodyId body : expr.bodies) inferBody(body, depth + 1);
            inferOperator(expr);
        }
    }

    // ---- Control flow ----

    /// An If gives what both branches give; if the condition is known already, what its branch gives.
    void inferBranches(const Expr& expr, int depth) {
        if (expr.bodies.size() != 2 || expr.arguments.empty()) {
            for (BodyId body : expr.bodies) inferBody(body, depth + 1);
            return;
        }
        std::size_t first = 0, second = 1;
        const Value condition = knownOf(expr.arguments.front()).value;
        if (const auto truth = truthOf(condition)) first = second = branchOf(expr, *truth);
        for (std::size_t i = 0; i < 2; ++i) {
            // What never runs is nothing to report.
            base::Diagnostics* const findings = m_findings;
            base::Diagnostics ofDead;
            if (first == second && i != first) m_findings = &ofDead;
            inferBody(expr.bodies[i], depth + 1);
            m_findings = findings;
        }
        const Body &one = m_graph.body(expr.bodies[first]), &other = m_graph.body(expr.bodies[second]);
        for (std::size_t i = 0; i < expr.outputs.size() && i < one.outputs.size() && i < other.outputs.size(); ++i) {
            const TypeInfo &oneType = m_graph.node(one.outputs[i]).type, &otherType = m_graph.node(other.outputs[i]).type;
            Known known = m_known[one.outputs[i].index()];
            if (first != second) known = {{}, {}, known.isWhole && m_known[other.outputs[i].index()].isWhole && oneType.elements.size() == otherType.elements.size()};
            settle(expr.outputs[i], ops::commonType(oneType, otherType), std::move(known));
        }
    }

    /// cond(predicate, one, other, operands): the bodies take the operands.
    void inferConditional(const Expr& expr, int depth) {
        std::optional<TypeInfo> both;
        for (BodyId id : expr.bodies) {
            const Body& body = m_graph.body(id);
            for (std::size_t i = 0; expr.arguments.size() > 3 && i < body.inputs.size() && i < expr.arguments[3].items.size(); ++i)
                settle(body.inputs[i], typeOf(expr.arguments[3].items[i]), knownOf(expr.arguments[3].items[i]));
            inferBody(id, depth + 1);
            const TypeInfo type = resultOf(body);
            both = both ? ops::commonType(*both, type) : type;
        }
        if (both && expr.outputs.size() == 1) settle(expr.outputs.front(), *both, {});
    }
    TypeInfo resultOf(const Body& body) const { return body.outputs.size() == 1 ? m_graph.node(body.outputs.front()).type : typeOf(body.result); }

    static std::optional<bool> truthOf(const Value& value) {
        if (value.isNumber()) return value.number() != 0;
        if (value.isTensor() && value.tensor().numel() == 1 && value.tensor().dtype() != DType::String) return value.tensor().toDouble(0) != 0;
        return std::nullopt;
    }

    /// ONNX names the branches in attributes; in domain prim they stand in order.
    static std::size_t branchOf(const Expr& expr, bool holds) {
        const auto* value = expr.attributes.find(holds ? "then_branch" : "else_branch");
        const std::size_t fallback = holds ? 0 : 1;
        if (expr.op.domain == "prim" || !value || !std::holds_alternative<tensor::BodyRef>(*value)) return fallback;
        return std::min<std::size_t>(std::get<tensor::BodyRef>(*value).index, 1);
    }

    /// Infers a body that runs again and again with types that hold for every pass: `carried` are the types that go in at
    /// the first, `places` its inputs for them; what comes out stands at `results` of the body's outputs.
    std::vector<TypeInfo> inferRepeated(const Body& body, std::vector<TypeInfo> carried, std::size_t firstInput, std::size_t firstResult, int depth) {
        base::Diagnostics* const findings = m_findings;
        ++m_loops;
        const int passes = m_loops > kDeepestRepeated ? 1 : kMostPasses;
        for (int pass = 1; pass <= passes; ++pass) {
            if (pass == passes) {
                for (TypeInfo& type : carried) {
                    type.shape.reset();
                    for (TypeInfo& element : type.elements) element.shape.reset();
                }
            }
            base::Diagnostics ofPass;
            m_findings = &ofPass;
            for (std::size_t i = 0; i < carried.size() && firstInput + i < body.inputs.size(); ++i) settle(body.inputs[firstInput + i], carried[i], {});
            inferBody(body.id, depth + 1);
            bool isStable = true;
            for (std::size_t i = 0; i < carried.size() && firstResult + i < body.outputs.size(); ++i) {
                const TypeInfo both = ops::commonType(carried[i], m_graph.node(body.outputs[firstResult + i]).type);
                if (both != carried[i]) isStable = false;
                carried[i] = both;
            }
            if (isStable || pass == passes) {
                findings->insert(findings->end(), ofPass.begin(), ofPass.end());
                break;
            }
        }
        m_findings = findings;
        --m_loops;
        return carried;
    }

    /// Trip count, condition, carried values; the body takes (i, condition, carried…) and gives (condition, carried…,
    /// stacked…).
    void inferLoop(const Expr& expr, int depth) {
        const Body& body = m_graph.body(expr.bodies.front());
        const bool isScript = expr.op.domain == "prim";
        std::vector<TypeInfo> carried;
        for (std::size_t i = 2; i < expr.arguments.size(); ++i) carried.push_back(typeOf(expr.arguments[i]));
        const auto exact = isScript ? passByPass(expr, body, depth) : std::nullopt;
        if (!body.inputs.empty()) settle(body.inputs[0], isScript ? kindOf(ValueKind::Int) : TypeInfo::tensor(DType::Int64, Dims{}), {});
        if (body.inputs.size() > 1) {
            // The body runs only while the condition holds.
            const Value yes = isScript ? Value::ofBool(true) : Value(tensor::Tensor::scalar<bool>(true));
            const TypeInfo declared = m_declared[body.inputs[1].index()];
            settle(body.inputs[1], declared.shape ? declared : TypeInfo::of(yes), {yes, {}});
        }
        carried = inferRepeated(body, std::move(carried), 2, 1, depth);
        for (std::size_t i = 0; i < expr.outputs.size() && i < carried.size(); ++i) {
            if (exact && i < exact->size()) settle(expr.outputs[i], (*exact)[i].first, (*exact)[i].second);
            else settle(expr.outputs[i], carried[i], {});
        }
        for (std::size_t i = carried.size(); i < expr.outputs.size() && i + 1 < body.outputs.size(); ++i) {
            settle(expr.outputs[i], stacked(m_graph.node(body.outputs[i + 1]).type, tripCount(expr, body).dim(), 0), {});
        }
    }

    /// What a short loop of a script carries out, if it is certain how often it runs: lists that grow in it are whole, and
    /// numbers have their values. Leaves the body's nodes as the last pass has them.
    std::optional<std::vector<std::pair<TypeInfo, Known>>> passByPass(const Expr& expr, const Body& body, int depth) {
        if (expr.arguments.size() < 2 || body.inputs.size() != expr.arguments.size() || body.outputs.size() + 1 != body.inputs.size()) return std::nullopt;
        const Value trips = knownOf(expr.arguments[0]).value;
        if (trips.kind() != ValueKind::Int || truthOf(knownOf(expr.arguments[1]).value) != true || m_loops >= kDeepestUnrolled) return std::nullopt;
        if (trips.toInt() < 0 || trips.toInt() > kMostUnrolled || trips.toInt() * static_cast<std::int64_t>(body.order.size()) > kMostUnrolledExprs) return std::nullopt;
        std::vector<std::pair<TypeInfo, Known>> carried;
        for (std::size_t i = 2; i < expr.arguments.size(); ++i) carried.emplace_back(typeOf(expr.arguments[i]), knownOf(expr.arguments[i]));
        base::Diagnostics* const findings = m_findings;
        base::Diagnostics ofPasses;
        m_findings = &ofPasses;
        ++m_loops;
        bool goesOn = true;
        for (std::int64_t pass = 0; pass < trips.toInt() && goesOn; ++pass) {
            settle(body.inputs[0], kindOf(ValueKind::Int), {Value::ofInt(pass), {}, false});
            settle(body.inputs[1], kindOf(ValueKind::Bool), {Value::ofBool(true), {}, false});
            for (std::size_t i = 0; i < carried.size(); ++i) settle(body.inputs[i + 2], carried[i].first, carried[i].second);
            inferBody(body.id, depth + 1);
            for (std::size_t i = 0; i < carried.size(); ++i) carried[i] = {m_graph.node(body.outputs[i + 1]).type, m_known[body.outputs[i + 1].index()]};
            goesOn = truthOf(m_known[body.outputs[0].index()].value) == true;
        }
        --m_loops;
        m_findings = findings;
        if (!goesOn) return std::nullopt;
        return carried;
    }

    Symbolic tripCount(const Expr& expr, const Body& body) const {
        const bool goesOn = !body.outputs.empty() && truthOf(m_known[body.outputs[0].index()].value) == true;
        const bool begins = expr.arguments.size() < 2 || expr.arguments[1].kind == Argument::Kind::Omitted || truthOf(knownOf(expr.arguments[1]).value) == true;
        if (!goesOn || !begins || expr.arguments.empty()) return {};
        const auto trips = elementsOf(expr.arguments[0]);
        return trips && trips->size() == 1 ? larger(trips->front(), Symbolic::of(std::int64_t{0})) : Symbolic();
    }

    /// States and sequences; the body takes (states…, elements…) and gives (states…, outputs…).
    void inferScan(const Expr& expr, int depth) {
        const Body& body = m_graph.body(expr.bodies.front());
        const std::int64_t count = expr.attributes.getInt("num_scan_inputs", 0);
        if (count < 1 || count > static_cast<std::int64_t>(expr.arguments.size())) return;
        const std::size_t states = expr.arguments.size() - static_cast<std::size_t>(count);
        const std::vector<std::int64_t> inputAxes = expr.attributes.getInts("scan_input_axes"), outputAxes = expr.attributes.getInts("scan_output_axes");
        std::vector<TypeInfo> carried;
        for (std::size_t i = 0; i < states; ++i) carried.push_back(typeOf(expr.arguments[i]));
        Dim length;
        for (std::size_t i = states; i < expr.arguments.size() && i < body.inputs.size(); ++i) {
            TypeInfo type = typeOf(expr.arguments[i]);
            if (type.shape) {
                const auto axis = tensor::normalizedAxis(i - states < inputAxes.size() ? inputAxes[i - states] : 0, type.shape->size());
                if (!axis) return;
                const Dim& own = (*type.shape)[*axis];
                if (own.known() || (!length.known() && length.symbol.empty())) length = own;
                type.shape->erase(type.shape->begin() + static_cast<std::ptrdiff_t>(*axis));
            }
            settle(body.inputs[i], type, {});
        }
        carried = inferRepeated(body, std::move(carried), 0, 0, depth);
        for (std::size_t i = 0; i < expr.outputs.size() && i < body.outputs.size(); ++i) {
            if (i < carried.size()) {
                settle(expr.outputs[i], carried[i], {});
                continue;
            }
            const std::int64_t axis = i - states < outputAxes.size() ? outputAxes[i - states] : 0;
            settle(expr.outputs[i], stacked(m_graph.node(body.outputs[i]).type, length, axis), {});
        }
    }

    /// Scan of version 8: lengths, states [N, …] and sequences [N, T, …]; the body runs on one sample of the batch.
    void inferScanByBatch(const Expr& expr, int depth) {
        const Body& body = m_graph.body(expr.bodies.front());
        const std::int64_t count = expr.attributes.getInt("num_scan_inputs", 0);
        if (count < 1 || count >= static_cast<std::int64_t>(expr.arguments.size())) return;
        const std::size_t states = expr.arguments.size() - 1 - static_cast<std::size_t>(count);
        std::vector<TypeInfo> carried;
        Dim batch, length;
        const auto takeFront = [](TypeInfo& type, Dim& into) {
            if (!type.shape || type.shape->empty()) return type.shape.reset();
            const Dim& own = type.shape->front();
            if (own.known() || (!into.known() && into.symbol.empty())) into = own;
            type.shape->erase(type.shape->begin());
        };
        for (std::size_t i = 0; i + 1 < expr.arguments.size() && i < body.inputs.size(); ++i) {
            TypeInfo type = typeOf(expr.arguments[i + 1]);
            takeFront(type, batch);
            if (i < states) {
                carried.push_back(std::move(type));
                continue;
            }
            takeFront(type, length);
            settle(body.inputs[i], type, {});
        }
        carried = inferRepeated(body, std::move(carried), 0, 0, depth);
        for (std::size_t i = 0; i < expr.outputs.size() && i < body.outputs.size(); ++i) {
            TypeInfo type = i < carried.size() ? carried[i] : stacked(m_graph.node(body.outputs[i]).type, length, 0);
            settle(expr.outputs[i], stacked(std::move(type), batch, 0), {});
        }
    }

    /// x[i, :n]: of a tensor whose shape is known. False if the index picks by its values, or may.
    bool inferIndexed(const Expr& expr) {
        if (expr.arguments.size() != 2 || expr.outputs.empty()) return false;
        const TypeInfo type = typeOf(expr.arguments[0]);
        std::vector<IndexPart> parts;
        if (!type.isTensor() || !type.shape || !addIndexParts(expr.arguments[1], parts, true)) return false;
        const auto dims = indexedDims(*type.shape, parts);
        if (dims) settle(expr.outputs.front(), TypeInfo::tensor(type.dtype, *dims), {});
        return dims.has_value();
    }

    bool addIndexParts(const Argument& index, std::vector<IndexPart>& parts, bool isWhole) const {
        using Kind = IndexPart::Kind;
        if (index.kind == Argument::Kind::Tuple && isWhole) return std::ranges::all_of(index.items, [&](const Argument& item) { return addIndexParts(item, parts, false); });
        if (index.kind == Argument::Kind::Slice) {
            IndexPart part{Kind::Range, {}, {}, {}};
            std::optional<Symbolic>* const bounds[] = {&part.start, &part.stop, &part.step};
            for (std::size_t i = 0; i < index.items.size() && i < 3; ++i) {
                const auto kind = typeOf(index.items[i]).kind;
                if (kind == ValueKind::None || index.items[i].kind == Argument::Kind::Omitted) continue;
                const auto number = elementsOf(index.items[i]);
                *bounds[i] = number && number->size() == 1 ? number->front() : Symbolic();
            }
            parts.push_back(std::move(part));
            return true;
        }
        const Value value = valueOf(index);
        if (value.kind() == ValueKind::Tuple && isWhole) {
            return std::ranges::all_of(value.items(), [&](const Value& item) { return addIndexParts(Argument::of(item), parts, false); });
        }
        if (value.kind() == ValueKind::Object) {
            if (const auto* slice = dynamic_cast<const tensor::SliceValue*>(value.object().get())) {
                return addIndexParts(Argument::container(Argument::Kind::Slice, {Argument::of(slice->start()), Argument::of(slice->stop()), Argument::of(slice->step())}), parts, false);
            }
            if (!dynamic_cast<const tensor::EllipsisValue*>(value.object().get())) return false;
            parts.push_back({Kind::Ellipsis, {}, {}, {}});
            return true;
        }
        const auto kind = typeOf(index).kind;
        if (kind != ValueKind::Int && kind != ValueKind::None) return false;
        parts.push_back({kind == ValueKind::Int ? Kind::Select : Kind::NewAxis, {}, {}, {}});
        return true;
    }

    /// A list with one more element. Of a list that may hold any number there is one type for all.
    void inferAppend(const Expr& expr) {
        if (expr.arguments.size() < 2 || expr.outputs.empty()) return;
        TypeInfo list = typeOf(expr.arguments[0]);
        const TypeInfo item = typeOf(expr.arguments[1]);
        if (list.kind != ValueKind::List) return;
        const bool isWhole = knownOf(expr.arguments[0]).isWhole && list.elements.size() < kLongestList;
        if (!isWhole) {
            TypeInfo common = item;
            for (const TypeInfo& element : list.elements) common = ops::commonType(common, element);
            list.elements = {common};
        } else {
            list.elements.push_back(item);
        }
        Known known{{}, {}, isWhole};
        const Value before = knownOf(expr.arguments[0]).value, added = knownOf(expr.arguments[1]).value;
        if (isWhole && before.isListLike() && !added.isNone() && !added.isTensor()) {
            ValueList items = before.items();
            items.push_back(added);
            known.value = Value::list(std::move(items));
        }
        settle(expr.outputs.front(), list, std::move(known));
    }

    /// The body runs on the elements of the first sequence and of those beside it.
    void inferMap(const Expr& expr, int depth) {
        const Body& body = m_graph.body(expr.bodies.front());
        for (std::size_t i = 0; i < expr.arguments.size() && i < body.inputs.size(); ++i) {
            TypeInfo type = typeOf(expr.arguments[i]);
            if (type.kind == ValueKind::Sequence) type = type.elements.empty() ? TypeInfo{} : TypeInfo(type.elements.front());
            settle(body.inputs[i], type, {});
        }
        inferBody(body.id, depth + 1);
        for (std::size_t i = 0; i < expr.outputs.size() && i < body.outputs.size(); ++i) {
            TypeInfo type = kindOf(ValueKind::Sequence);
            type.elements = {m_graph.node(body.outputs[i]).type};
            settle(expr.outputs[i], type, {});
        }
    }

    /// A called module or function: types go in by position and come out of the body's result.
    void inferCall(const Expr& expr, int depth) {
        const Body& body = m_graph.body(expr.bodies.front());
        for (std::size_t i = 0; i < body.inputs.size() && i < expr.inputs.size(); ++i) {
            settle(body.inputs[i], m_graph.node(expr.inputs[i]).type, m_known[expr.inputs[i].index()]);
        }
        inferBody(body.id, depth + 1);
        if (expr.outputs.size() == 1) {
            settle(expr.outputs.front(), typeOf(body.result), knownOf(body.result));
            return;
        }
        for (std::size_t i = 0; i < expr.outputs.size() && i < body.outputs.size(); ++i) {
            settle(expr.outputs[i], m_graph.node(body.outputs[i]).type, m_known[body.outputs[i].index()]);
        }
    }

    // ---- Operators ----

    void inferOperator(const Expr& expr) {
        if (expr.kind == graph::ExprKind::Output) {
            if (!expr.outputs.empty() && !expr.arguments.empty()) settle(expr.outputs.front(), typeOf(expr.arguments.front()), {});
            return;
        }
        const ops::OpDef* op = m_registry.find(expr.op.domain, expr.op.name, expr.op.version);
        if (!op || !op->infer) return;
        const auto attributes = ops::completeAttributes(*op, expr.attributes);
        if (!attributes) {
            note(expr, attributes.error().what);
            return;
        }
        Inputs inputs;
        bind(expr, *op, inputs);
        ops::InferContext context(inputs.types, inputs.values, *attributes, expr.outputs.size(), inputs.elements);
        base::Result<void> result;
        try {
            result = op->infer(context);
        } catch (const std::exception& exception) {
            result = base::unreadable(exception.what());
        }
        if (!result) {
            note(expr, result.error().what);
            return;
        }
        std::vector<Known> known(expr.outputs.size());
        for (std::size_t i = 0; i < known.size(); ++i) known[i] = {context.known()[i], context.knownElements()[i]};
        if (op->domain.empty()) follow(expr, *op, *attributes, inputs, context.outputs(), known);
        else if (op->domain == "prim") followPlain(expr, *op, *attributes, inputs, context.outputs(), known);
        for (std::size_t i = 0; i < known.size(); ++i) settle(expr.outputs[i], context.outputs()[i], std::move(known[i]));
    }

    struct Inputs {
        std::vector<TypeInfo> types;
        std::vector<Value> values;
        std::vector<std::optional<Elements>> elements;
    };

    /// Values and expressions through an operator of ONNX.
    void follow(const Expr& expr, const ops::OpDef& op, const ops::Attributes& attributes, Inputs& inputs, const std::vector<TypeInfo>& outputs,
                std::vector<Known>& known) {
        if (known.empty() || !known[0].value.isNone()) return;
        const KnownCall call{op, attributes, expr.op.version, inputs.types, inputs.values, inputs.elements, outputs};
        const std::vector<Value> values = foldedValues(call, m_environment);
        for (std::size_t i = 0; i < values.size() && i < known.size(); ++i) known[i].value = values[i];
        const bool hasSymbols = std::ranges::any_of(inputs.elements, [](const auto& elements) { return elements.has_value(); });
        if (!values.empty() || !hasSymbols || known[0].elements) return;
        for (std::size_t i = 0; i < inputs.elements.size(); ++i) {
            if (!inputs.elements[i] && !inputs.values[i].isNone()) inputs.elements[i] = ops::elementsOf(inputs.values[i]);
        }
        std::vector<std::optional<Elements>> elements = symbolicElements({op, attributes, expr.op.version, inputs.types, inputs.values, inputs.elements, outputs}, m_environment);
        for (std::size_t i = 0; i < elements.size() && i < known.size(); ++i) known[i].elements = std::move(elements[i]);
    }

    /// Numbers, texts and lists through Python's operators; a list made in place is whole.
    void followPlain(const Expr& expr, const ops::OpDef& op, const ops::Attributes& attributes, const Inputs& inputs, const std::vector<TypeInfo>& outputs, std::vector<Known>& known) {
        if (known.empty()) return;
        if (op.name == "ListConstruct") known[0].isWhole = true;
        if (!known[0].value.isNone() || op.category == ops::Category::Control) return;
        const std::vector<Value> values = foldedPlainValues({op, attributes, expr.op.version, inputs.types, inputs.values, inputs.elements, outputs}, m_environment);
        for (std::size_t i = 0; i < values.size() && i < known.size(); ++i) known[i].value = values[i];
    }

    void bind(const Expr& expr, const ops::OpDef& op, Inputs& inputs) const {
        const auto add = [&](const Argument& argument) {
            inputs.types.push_back(typeOf(argument));
            Known known = knownOf(argument);
            // A list that stands in the call has just what stands there; a list of one type elsewhere may hold any number of it.
            const bool asksAll = op.domain == "aten" || op.name == "len";
            if (asksAll && known.isWhole && inputs.types.back().kind == ValueKind::List) inputs.types.back().kind = ValueKind::Tuple;
            inputs.values.push_back(std::move(known.value));
            inputs.elements.push_back(std::move(known.elements));
        };
        for (const Argument& argument : expr.arguments) add(argument);
        for (std::size_t i = inputs.types.size(); i < op.parameters.size(); ++i) {
            const ops::Parameter& parameter = op.parameters[i];
            const auto given = std::find_if(expr.keywords.begin(), expr.keywords.end(),
                                            [&](const auto& keyword) { return keyword.first == parameter.name; });
            if (given != expr.keywords.end()) {
                add(given->second);
            } else {
                add(Argument::of(parameter.fallback.value_or(Value())));
            }
        }
    }

    TypeInfo typeOf(const Argument& argument) const {
        switch (argument.kind) {
            case Argument::Kind::Omitted: return TypeInfo::of(Value());
            case Argument::Kind::Node: return m_graph.node(argument.node).type;
            case Argument::Kind::Constant: return TypeInfo::of(argument.constant);
            default: break;
        }
        TypeInfo type = kindOf(argument.kind == Argument::Kind::List    ? ValueKind::List
                               : argument.kind == Argument::Kind::Tuple ? ValueKind::Tuple
                               : argument.kind == Argument::Kind::Dict  ? ValueKind::Dict
                                                                        : ValueKind::Object);
        if (argument.kind == Argument::Kind::List || argument.kind == Argument::Kind::Tuple) {
            for (const Argument& item : argument.items) type.elements.push_back(typeOf(item));
        }
        return type;
    }

    Known knownOf(const Argument& argument) const {
        if (argument.kind == Argument::Kind::Node) return m_known[argument.node.index()];
        Known known{valueOf(argument), {}, argument.kind != Argument::Kind::Omitted};
        if (known.value.isNone()) known.elements = elementsOf(argument);
        return known;
    }

    /// None unless every part is known.
    Value valueOf(const Argument& argument) const {
        switch (argument.kind) {
            case Argument::Kind::Node: return m_known[argument.node.index()].value;
            case Argument::Kind::Constant: return argument.constant;
            case Argument::Kind::List:
            case Argument::Kind::Tuple:
            case Argument::Kind::Slice: {
                ValueList items;
                for (const Argument& item : argument.items) {
                    items.push_back(valueOf(item));
                    const bool isNoneConstant = item.kind == Argument::Kind::Constant && item.constant.isNone();
                    if (items.back().isNone() && !isNoneConstant) return Value();
                }
                if (argument.kind == Argument::Kind::List) return Value::list(std::move(items));
                if (argument.kind == Argument::Kind::Tuple) return Value::tuple(std::move(items));
                items.resize(3);
                return Value::object(std::make_shared<tensor::SliceValue>(items[0], items[1], items[2]));
            }
            default: return Value();
        }
    }

    /// Of a list with parts that are not numbers yet.
    std::optional<Elements> elementsOf(const Argument& argument) const {
        switch (argument.kind) {
            case Argument::Kind::Node: {
                const Known& known = m_known[argument.node.index()];
                return known.elements ? known.elements : ops::elementsOf(known.value);
            }
            case Argument::Kind::Constant: return ops::elementsOf(argument.constant);
            case Argument::Kind::List:
            case Argument::Kind::Tuple: {
                Elements result;
                for (const Argument& item : argument.items) {
                    const auto inside = elementsOf(item);
                    result.push_back(inside && inside->size() == 1 ? inside->front() : Symbolic());
                }
                return result;
            }
            default: return std::nullopt;
        }
    }

    void settle(NodeId node, const TypeInfo& inferred, Known known) {
        const TypeInfo& declared = m_declared[node.index()];
        if (disagree(declared, inferred)) {
            const Expr& producer = m_graph.expr(m_graph.node(node).producer);
            m_findings->push_back({base::Severity::Warning,
                                   "the file declares " + declared.text() + " but its operators give " + inferred.text(),
                                   "node '" + m_graph.node(node).name + "'" +
                                       (producer.qualname && !producer.qualname->empty() ? ", module '" + *producer.qualname + "'" : ""),
                                   {}});
        } else {
            TypeInfo type = merged(declared, inferred);
            nameCounts(node, type);
            m_graph.setType(node, std::move(type));
        }
        if (known.value.isNone() && known.elements) {
            const TypeInfo& type = m_graph.node(node).type;
            const bool isInt = type.kind == ValueKind::Int && known.elements->size() == 1 && known.elements->front().constant();
            known.value = isInt ? Value::ofInt(*known.elements->front().constant()) : analysis::valueOf(*known.elements, type);
        }
        const bool small = !known.value.isTensor() || known.value.tensor().numel() <= kLargestFollowed;
        if (!small) known.value = {};
        m_known[node.index()] = std::move(known);
    }

    /// How many there are of something is a number that only the data tells: it has a name, as extents of inputs have.
    void nameCounts(NodeId node, TypeInfo& type) const {
        static constexpr std::string_view kCounting[] = {"NonZero", "Unique", "Compress", "NonMaxSuppression", "nonzero", "argwhere", "masked_select", "_unique", "_unique2",
                                                         "unique_consecutive", "unique_dim", "unique_dim_consecutive", "nms"};
        const Expr& producer = m_graph.expr(m_graph.node(node).producer);
        if (m_loops > 0 || !type.shape || std::ranges::find(kCounting, producer.op.name) == std::end(kCounting)) return;
        for (std::size_t i = 0; i < type.shape->size(); ++i) {
            Dim& dim = (*type.shape)[i];
            if (!dim.known() && dim.symbol.empty()) dim.symbol = plainName(m_graph.node(node).name) + "." + std::to_string(i);
        }
    }

    void note(const Expr& expr, const std::string& what) {
        const std::string node = expr.outputs.empty() ? expr.name : m_graph.node(expr.outputs.front()).name;
        m_findings->push_back({base::Severity::Warning, expr.op.name + ": " + what, "node '" + node + "'", {}});
    }

    InternalGraph& m_graph;
    base::Diagnostics* m_findings;
    const ops::Registry& m_registry;
    std::vector<Known> m_known;            ///< by node
    std::vector<TypeInfo> m_declared;      ///< by node: before anything was inferred
    base::ThreadPool m_pool;
    ops::RunEnvironment m_environment;
    int m_loops = 0;                       ///< that are being inferred, one inside the other
};

}  // namespace

void inferTypes(InternalGraph& graph, base::Diagnostics& findings, const ops::Registry& registry) {
    Inference inference(graph, findings, registry);
    inference.nameOpenExtents();
    inference.inferBody(graph.mainId(), 0);
}

}  // namespace sonde::analysis

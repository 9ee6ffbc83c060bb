#include "core/session/gradient/own_forms.h"

#include <unordered_map>

#include "core/operators/names.h"
#include "core/session/gradient/recurrent_form.h"

namespace sonde::session::gradient {

using exporting::LoweredCall;
using graph::Argument;
using graph::NodeId;
using Results = std::vector<Argument>;

namespace {

bool isNumber(const LoweredCall& call, std::size_t i) {
    return !call.has(i) || (call.isConstant(i) && call.value(i).isNumber());
}

NodeId where(LoweredCall& call, NodeId condition, NodeId then, NodeId otherwise) {
    return call.op("Where", {condition, then, otherwise});
}

/// Gradients come through where x is at a limit. -1: there is none.
Results clamped(LoweredCall& call, int low, int high) {
    const auto at = [](int i) { return static_cast<std::size_t>(i); };
    const NodeId x = call.in(0);
    const bool areNumbers = (low < 0 || isNumber(call, at(low))) && (high < 0 || isNumber(call, at(high)));
    const auto has = [&](int i) { return i >= 0 && call.has(at(i)); };
    if (areNumbers)
        return exporting::one(call.op("Clip", {x, has(low) ? call.like(call.number(at(low))) : NodeId(),
                                               has(high) ? call.like(call.number(at(high))) : NodeId()}));
    NodeId y = x;
    if (has(low)) y = where(call, call.make("Less", {y, call.in(at(low))}), call.in(at(low)), y);
    if (has(high)) y = where(call, call.make("Greater", {y, call.in(at(high))}), call.in(at(high)), y);
    return exporting::one(y);
}

/// They do not where x is at a limit.
Results strictlyClamped(LoweredCall& call, double low, double high) {
    const NodeId x = call.in(0);
    const NodeId isInside =
        call.make("And", {call.make("Greater", {x, call.like(low)}), call.make("Less", {x, call.like(high)})});
    return exporting::one(where(call, isInside, x, call.constant(call.result())));
}

/// Of two equal values the first one counts; of NaN and a number the number.
Results extremeOfTwo(LoweredCall& call, const char* comparison) {
    const NodeId a = call.in(0), b = call.in(1);
    const NodeId isFirst = call.make("Or", {call.make(comparison, {a, b}), call.make("IsNaN", {b})});
    return exporting::one(where(call, isFirst, a, b));
}

/// Of equal elements along an axis the one that the index names counts.
Results extremeAlong(LoweredCall& call, const char* arg) {
    const NodeId x = call.tensor(0);
    const auto rank = call.shapeOf(x).rank();
    if (rank == 0) return {};
    const std::int64_t axis = call.axis(1, rank);
    const NodeId index = call.make(arg, {x}, {{"axis", axis}, {"keepdims", std::int64_t{1}}});
    const NodeId value = call.make("GatherElements", {x, index}, {{"axis", axis}});
    const tensor::Shape& shape = call.result(0).shape();
    return exporting::several({call.reshaped(value, shape), call.reshaped(index, shape)});
}

/// The row of the padding has no gradient.
Results embedded(LoweredCall& call) {
    const std::int64_t padding = call.has(2) ? call.integer(2) : -1;
    if (padding < 0) return {};
    const NodeId ids = call.tensor(1);
    const NodeId rows = call.op("Gather", {call.tensor(0), ids}, {{"axis", std::int64_t{0}}});
    const NodeId isPadding = call.make("Equal", {ids, call.scalar(static_cast<double>(padding), call.dtypeOf(ids))});
    const NodeId column = call.make("Unsqueeze", {isPadding, call.integersNode({-1})});
    return exporting::one(where(call, column, call.constant(call.result()), rows));
}

/// Of volumes, which exports leave out: ONNX has them since version 20.
Results sampledVolume(LoweredCall& call) {
    static const char* const modes[] = {"bilinear", "nearest"};
    static const char* const pads[] = {"zeros", "border", "reflection"};
    const std::int64_t mode = call.integer(2), pad = call.integer(3);
    if (call.shapeOf(call.tensor(0)).rank() != 5 || mode < 0 || mode > 1 || pad < 0 || pad > 2) return {};
    return exporting::one(call.op("GridSample", {call.tensor(0), call.tensor(1)},
                                  {{"mode", std::string(modes[mode])},
                                   {"padding_mode", std::string(pads[pad])},
                                   {"align_corners", std::int64_t{call.flag(4)}}}));
}

/// In training by the statistics of the batch, which exports leave out.
Results trainedBatchNorm(LoweredCall& call) {
    const NodeId x = call.tensor(0);
    const tensor::Shape shape = call.shapeOf(x);
    if (shape.rank() < 2 || (!call.flag(5) && call.has(3) && call.has(4))) return {};
    const auto perChannel = [&](std::size_t argument, double otherwise) {
        if (call.has(argument)) return call.tensor(argument);
        const std::vector<double> values(static_cast<std::size_t>(shape[1]), otherwise);
        return call.cast(call.constant(tensor::Tensor::of<double>({shape[1]}, values)), call.dtypeOf(x));
    };
    return exporting::one(call.op("BatchNormalization",
                                  {x, perChannel(1, 1), perChannel(2, 0), perChannel(3, 0), perChannel(4, 1)},
                                  {{"epsilon", call.number(7, 1e-5)}, {"training_mode", std::int64_t{1}}}));
}

Results logDeterminant(LoweredCall& call) {
    return exporting::one(call.make("Log", {call.make("Det", {call.tensor(0)})}));
}
Results signAndLogDeterminant(LoweredCall& call) {
    const NodeId determinant = call.make("Det", {call.tensor(0)});
    return exporting::several({call.make("Sign", {determinant}), call.make("Log", {call.make("Abs", {determinant})})});
}

using OwnForm = Results (*)(LoweredCall& call);

Results hardTanh(LoweredCall& call) {
    if (!isNumber(call, 1) || !isNumber(call, 2)) return {};
    return strictlyClamped(call, call.number(1, -1), call.number(2, 1));
}

/// log(1 + x), e^x - 1 and 1 - erf(x) as they stand: what they lose where they are small is not in their derivatives.
Results logarithmOfOneMore(LoweredCall& call) {
    return exporting::one(call.op("Log", {call.op("Add", {call.in(0), call.like(1)})}));
}
Results exponentialLessOne(LoweredCall& call) {
    return exporting::one(call.op("Sub", {call.op("Exp", {call.in(0)}), call.like(1)}));
}
Results complementaryError(LoweredCall& call) {
    return exporting::one(call.op("Sub", {call.like(1), call.op("Erf", {call.in(0)})}));
}

const std::unordered_map<std::string_view, OwnForm>& ownForms() {
    static constexpr OwnForm kBoth = [](LoweredCall&call) { return clamped(call, 1, 2); },
                             kLow = [](LoweredCall&call) { return clamped(call, 1, -1); },
                             kHigh = [](LoweredCall&call) { return clamped(call, -1, 1); };
    static const std::unordered_map<std::string_view, OwnForm> forms{
        {"batch_norm", trainedBatchNorm},
        {"hardtanh", hardTanh},
        {"relu6", [](LoweredCall& call) { return strictlyClamped(call, 0, 6); }},
        {"clamp", kBoth},
        {"clamp.Tensor", kBoth},
        {"clip", kBoth},
        {"clip.Tensor", kBoth},
        {"clamp_min", kLow},
        {"clamp_min.Tensor", kLow},
        {"clamp_max", kHigh},
        {"clamp_max.Tensor", kHigh},
        {"fmax", [](LoweredCall& call) { return extremeOfTwo(call, "GreaterOrEqual"); }},
        {"fmin", [](LoweredCall& call) { return extremeOfTwo(call, "LessOrEqual"); }},
        {"max.dim", [](LoweredCall& call) { return extremeAlong(call, "ArgMax"); }},
        {"min.dim", [](LoweredCall& call) { return extremeAlong(call, "ArgMin"); }},
        {"grid_sampler", sampledVolume},
        {"grid_sampler_3d", sampledVolume},
        {"embedding", embedded},
        {"lstm.input", projectedLstm},
        {"log1p", logarithmOfOneMore},
        {"expm1", exponentialLessOne},
        {"erfc", complementaryError},
        {"logdet", logDeterminant},
        {"slogdet", signAndLogDeterminant},
        {"linalg_slogdet", signAndLogDeterminant}};
    return forms;
}

}  // namespace

Results ownForm(LoweredCall& call, std::string_view name) {
    const auto form = ownForms().find(name);
    return form == ownForms().end() ? Results() : form->second(call);
}

bool hasOwnForm(std::string_view name) { return ownForms().contains(name); }

std::optional<graph::OpKey> sameOperator(const graph::Expr& expr) {
    if (expr.op.domain != "aten" || (expr.op.name != "inverse" && expr.op.name != "linalg_inv")) return std::nullopt;
    return graph::OpKey{"com.microsoft", "Inverse", 1};
}

bool stopsGradient(const graph::Expr& expr) {
    if (expr.op.domain != "aten" && expr.op.domain != "prim") return false;
    const std::string name = operators::outOfPlaceName(expr.op.name);
    return name == "detach" || name == "detach_copy" || name == "data";
}

}  // namespace sonde::session::gradient

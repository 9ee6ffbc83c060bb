#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::test {

/// One graph: values [N, C, H, W] and some that are broadcast to them, in the main body, in called modules, branches
/// and loops.
class RandomGraph {
  public:
    std::shared_ptr<sonde::graph::InternalGraph> graph = std::make_shared<sonde::graph::InternalGraph>();
    std::vector<tensor::Value> inputs;
    std::vector<sonde::graph::NodeId> ends;  ///< nodes that every run computes, once

    /// `draws`: with operators that draw random numbers.
    explicit RandomGraph(unsigned seed, bool draws = false) : m_engine(seed), m_draws(draws) {
        m_shape = seed % 8 == 0 ? Shape{1, 3, 80, 80} : Shape{1 + pick(2), 1 + pick(4), 1 + pick(6), 1 + pick(20)};
        Values all;
        all.full = {input("x", m_shape), input("other", m_shape)};
        all.broadcast = {input("row", {m_shape[3]}), input("channel", {m_shape[1], 1, 1}), input("one", {1})};
        all.scalar = {input("scalar", {})};
        m_square = input("square", {m_shape[3], m_shape[3]});
        m_factors = constant("factors", random({m_shape[1]}));
        m_variance =
            constant("variance",
                     Tensor::of<float>({m_shape[1]}, std::vector<float>(static_cast<std::size_t>(m_shape[1]), 0.5F)));
        m_kernel = constant("kernel", random({m_shape[1], m_shape[1], 1, 1}));
        m_trips = constant("trips", Tensor::scalar<std::int64_t>(2));
        m_yes = constant("yes", Tensor::scalar<bool>(true));
        const NodeId last = steps(graph->mainId(), all, 12, 0, true);
        std::vector<Argument> results{Argument::of(last)};
        if (pick(2))
            results.push_back(
                Argument::of(all.full[static_cast<std::size_t>(pick(static_cast<std::int64_t>(all.full.size())))]));
        graph->setResult(graph->mainId(), results.size() == 1
                                              ? results.front()
                                              : Argument::container(Argument::Kind::Tuple, std::move(results)));
    }

    std::int64_t pick(std::int64_t count) {
        return std::uniform_int_distribution<std::int64_t>(0, count - 1)(m_engine);
    }

  private:
    using NodeId = sonde::graph::NodeId;
    using BodyId = sonde::graph::BodyId;
    using Argument = sonde::graph::Argument;
    using Expr = sonde::graph::Expr;
    using ExprId = sonde::graph::ExprId;
    using Shape = tensor::Shape;
    using Tensor = tensor::Tensor;
    using DType = tensor::DType;
    using TypeInfo = tensor::TypeInfo;

    struct Values {
        std::vector<NodeId> full, broadcast, scalar;
    };

    Tensor random(const Shape& shape) {
        Tensor x = Tensor::allocate(DType::Float32, shape).value();
        std::uniform_real_distribution<float> numbers(-2, 2);
        for (std::int64_t i = 0; i < x.numel(); ++i) x.mutableData<float>()[i] = numbers(m_engine);
        return x;
    }

    std::string fresh(const std::string& stem) { return stem + "_" + std::to_string(m_count++); }

    NodeId input(const std::string& name, const Shape& shape) {
        inputs.emplace_back(random(shape));
        return graph->addInput(graph->mainId(), name, TypeInfo::tensor(DType::Float32));
    }

    NodeId constant(const std::string& name, Tensor value) {
        Expr expr;
        expr.kind = sonde::graph::ExprKind::Constant;
        expr.body = graph->mainId();
        const NodeId node =
            graph->expr(graph->addExpr(std::move(expr), std::span<const std::string>(&name, 1))).outputs.front();
        graph->setConstant(node, tensor::Value(std::move(value)));
        return node;
    }

    NodeId apply(BodyId body, const std::string& op, std::vector<Argument> arguments) {
        Expr expr;
        expr.op = sonde::graph::OpKey{"", op, 17};
        expr.target = op;
        expr.body = body;
        expr.arguments = std::move(arguments);
        const std::string name = fresh(op);
        return graph->expr(graph->addExpr(std::move(expr), std::span<const std::string>(&name, 1))).outputs.front();
    }

    template <typename T>
    const T& any(const std::vector<T>& of) {
        // Mostly what was made last: chains.
        if (pick(3)) return of.back();
        return of[static_cast<std::size_t>(pick(static_cast<std::int64_t>(of.size())))];
    }

    NodeId product(BodyId body, const Values& values) {
        const Argument x = Argument::of(any(values.full));
        if (m_draws && pick(2)) return apply(body, pick(2) ? "RandomUniformLike" : "RandomNormalLike", {x});
        switch (pick(4)) {
            case 0: return apply(body, "MatMul", {x, Argument::of(m_square)});
            case 1: return apply(body, "Conv", {x, Argument::of(m_kernel)});
            case 2:
                return apply(body, "BatchNormalization",
                             {x, Argument::of(m_factors), Argument::of(m_factors), Argument::of(m_factors),
                              Argument::of(m_variance)});
            default: {
                const NodeId joined = apply(body, "Concat", {x});
                graph->mutableExpr(graph->node(joined).producer).attributes.set("axis", std::int64_t{1});
                return joined;
            }
        }
    }

    NodeId elementWise(BodyId body, const std::vector<NodeId>& from, const std::vector<std::vector<NodeId>>& others,
                       const std::vector<NodeId>& scalars) {
        static const char* const unary[] = {"Relu", "Neg",       "Sigmoid",     "Tanh", "Abs", "Sqrt",
                                            "Exp",  "LeakyRelu", "HardSigmoid", "Erf",  "Elu"};
        static const char* const binary[] = {"Add", "Sub", "Mul", "Div"};
        const Argument x = Argument::of(any(from));
        const std::int64_t kind = pick(8);
        if (kind < 3) return apply(body, unary[pick(std::size(unary))], {x});
        if (kind == 3) {
            const Argument low = pick(2) ? Argument::of(any(scalars)) : Argument(),
                           high = pick(2) ? Argument::of(any(scalars)) : Argument();
            return apply(body, "Clip", {x, low, high});
        }
        const std::vector<NodeId>& group =
            others[static_cast<std::size_t>(pick(static_cast<std::int64_t>(others.size())))];
        const Argument y = Argument::of(any(group));
        return pick(2) ? apply(body, binary[pick(4)], {x, y}) : apply(body, binary[pick(4)], {y, x});
    }

    /// Adds some steps to a body; the last full value there is. `once`: whatever stands here is computed once in every
    /// run.
    NodeId steps(BodyId body, Values& values, std::int64_t most, int depth, bool once) {
        const std::int64_t count = 3 + pick(most);
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t kind = pick(18);
            NodeId made;
            if (kind == 0 && depth < 3) made = call(body, values, depth, once);
            else if (kind == 1 && depth < 3) made = branch(body, values, depth);
            else if (kind == 2 && depth < 2) made = loop(body, values, depth);
            else if (kind < 6) made = product(body, values);
            else if (kind < 9) {
                values.scalar.push_back(elementWise(body, values.scalar, {values.scalar}, values.scalar));
                if (once) ends.push_back(values.scalar.back());
                continue;
            } else {
                made = elementWise(body, values.full, {values.full, values.broadcast, values.scalar}, values.scalar);
            }
            values.full.push_back(made);
            if (once) ends.push_back(made);
        }
        return values.full.back();
    }

    NodeId call(BodyId body, const Values& values, int depth, bool once) {
        const std::vector<NodeId> given{any(values.full), any(values.full), any(values.scalar)};
        Expr expr;
        expr.kind = sonde::graph::ExprKind::CallModule;
        expr.target = fresh("module");
        expr.body = body;
        for (NodeId node : given) expr.arguments.push_back(Argument::of(node));
        const bool two = pick(3) == 0;  // outputs
        std::vector<std::string> names{fresh("out")};
        if (two) names.push_back(fresh("out"));
        const ExprId id = graph->addExpr(std::move(expr), names);
        const BodyId inner = graph->addBody(id, "module");
        Values inside = values;  // what is outside may be captured
        for (std::size_t i = 0; i < given.size(); ++i) {
            (i < 2 ? inside.full : inside.scalar)
                .push_back(graph->addInput(inner, fresh("in"), TypeInfo::tensor(DType::Float32)));
        }
        const NodeId last = steps(inner, inside, 5, depth + 1, once);
        graph->setResult(
            inner, two ? Argument::container(Argument::Kind::Tuple,
                                             {Argument::of(last), Argument::of(inside.full[inside.full.size() - 2])})
                       : Argument::of(last));
        return graph->expr(id).outputs.back();
    }

    NodeId branch(BodyId body, const Values& values, int depth) {
        const NodeId condition =
            apply(body, "Less", {Argument::of(any(values.scalar)), Argument::of(values.scalar.front())});
        const NodeId made = apply(body, "If", {Argument::of(condition)});
        const ExprId id = graph->node(made).producer;
        std::int64_t number = 0;
        for (const char* name : {"then_branch", "else_branch"}) {
            const BodyId inner = graph->addBody(id, name);
            graph->mutableExpr(id).attributes.set(name, tensor::BodyRef{static_cast<std::size_t>(number++)});
            Values inside = values;
            graph->setResult(inner, Argument::of(steps(inner, inside, 4, depth + 1, false)));
        }
        return made;
    }

    NodeId loop(BodyId body, const Values& values, int depth) {
        const NodeId made =
            apply(body, "Loop", {Argument::of(m_trips), Argument::of(m_yes), Argument::of(any(values.full))});
        const ExprId id = graph->node(made).producer;
        const BodyId inner = graph->addBody(id, "body");
        graph->mutableExpr(id).attributes.set("body", tensor::BodyRef{0});
        graph->addInput(inner, fresh("pass"), TypeInfo::tensor(DType::Int64));
        const NodeId condition = graph->addInput(inner, fresh("condition"), TypeInfo::tensor(DType::Bool));
        Values inside = values;
        inside.full.push_back(graph->addInput(inner, fresh("carried"), TypeInfo::tensor(DType::Float32)));
        const NodeId last = steps(inner, inside, 4, depth + 1, false);
        graph->setResult(inner,
                         Argument::container(Argument::Kind::Tuple, {Argument::of(condition), Argument::of(last)}));
        return made;
    }

    std::mt19937 m_engine;
    bool m_draws = false;
    Shape m_shape;
    NodeId m_square, m_factors, m_variance, m_kernel, m_trips, m_yes;
    int m_count = 0;
};

}  // namespace sonde::test

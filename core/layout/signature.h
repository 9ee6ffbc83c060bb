#pragma once

#include <bit>
#include <functional>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/layout/outline.h"

namespace sonde::layout {

/// What a group is, as numbers: two groups are equal if these are. Values are numbered as they appear, so that names
/// and ids do not count; weights do not count either.
class Signature {
  public:
    explicit Signature(const Outline& outline) : m_outline(outline), m_graph(outline.graph()) {}

    std::vector<std::uint64_t> of(GroupId top) {
        m_tokens.clear();
        m_inside.clear();
        m_outside.clear();
        struct Step {
            GroupId group;
            bool leaving;
        };
        std::vector<Step> stack{{top, false}};  // not recursion: groups nest as deep as the file says
        while (!stack.empty()) {
            const Step step = stack.back();
            stack.pop_back();
            if (step.leaving) {
                m_tokens.push_back(1);
                continue;
            }
            const Outline::Group& group = m_outline.group(step.group);
            m_tokens.push_back(2 + static_cast<std::uint64_t>(group.kind));
            if (group.kind == Outline::Kind::Module) add(m_graph.scope(group.scope).moduleClass);
            // The body of a call is labelled with the module's own path.
            if (group.kind == Outline::Kind::Body && !isCallBody(group.body)) add(m_graph.body(group.body).label);
            stack.push_back({step.group, true});
            // Exprs now, groups in their place on the stack: members are pushed backwards.
            for (auto it = group.members.rbegin(); it != group.members.rend(); ++it)
                if (it->group.valid()) stack.push_back({it->group, false});
            for (const Outline::Member& member : group.members) {
                m_tokens.push_back(member.group.valid() ? 6 : 7);
                if (member.expr.valid()) addExpr(m_graph.expr(member.expr));
            }
        }
        // Wiring last, when everything inside has its number.
        for (const NodeId node : m_read) m_tokens.push_back(number(node));
        m_read.clear();
        return std::move(m_tokens);
    }

  private:
    bool isCallBody(BodyId body) const {
        const ExprId owner = m_graph.body(body).owner;
        return owner.valid() && Outline::isCall(m_graph.expr(owner));
    }

    // As hashes: text, numbers, values.
    void add(std::string_view text) { m_tokens.push_back(std::hash<std::string_view>{}(text)); }

    void addNumber(double number) { m_tokens.push_back(std::bit_cast<std::uint64_t>(number)); }

    /// Every element counts.
    void addTensor(const tensor::Tensor& whole) {
        m_tokens.push_back(static_cast<std::uint64_t>(whole.dtype()));
        add(whole.typeText());
        const auto packed = whole.defined() ? whole.contiguous() : base::Result<tensor::Tensor>(tensor::Tensor());
        if (!packed || !packed->defined()) return;
        if (packed->dtype() == tensor::DType::String) {
            for (const std::string& element : packed->strings()) add(element);
        } else {
            add(std::string_view(reinterpret_cast<const char*>(packed->bytes()), packed->sizeBytes()));
        }
    }

    void addValue(const tensor::Value& value) {
        m_tokens.push_back(64 + static_cast<std::uint64_t>(value.kind()));
        switch (value.kind()) {
            case tensor::ValueKind::Tensor: return addTensor(value.tensor());
            case tensor::ValueKind::Float: return addNumber(value.toFloat());
            case tensor::ValueKind::List:
            case tensor::ValueKind::Tuple:
            case tensor::ValueKind::Sequence:
                m_tokens.push_back(value.items().size());
                for (const tensor::Value& item : value.items()) addValue(item);
                return;
            default: return add(value.text(std::numeric_limits<std::size_t>::max() / 2));
        }
    }

    void addAttribute(const tensor::AttributeValue& value) {
        m_tokens.push_back(value.index());
        if (const auto* number = std::get_if<double>(&value)) return addNumber(*number);
        if (const auto* tensor = std::get_if<tensor::Tensor>(&value)) return addTensor(*tensor);
        if (const auto* text = std::get_if<std::string>(&value)) return add(*text);
        if (const auto* list = std::get_if<std::vector<double>>(&value)) {
            m_tokens.push_back(list->size());
            for (const double number : *list) addNumber(number);
        } else if (const auto* tensors = std::get_if<std::vector<tensor::Tensor>>(&value)) {
            m_tokens.push_back(tensors->size());
            for (const tensor::Tensor& tensor : *tensors) addTensor(tensor);
        } else if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
            m_tokens.push_back(texts->size());
            for (const std::string& text : *texts) add(text);
        } else {
            add(tensor::text(value, std::numeric_limits<std::size_t>::max() / 2));
        }
    }

    /// Weights differ from block to block, numbers that steer the computation do not: shapes, axes, conditions.
    static bool steers(const tensor::Value& value) {
        constexpr std::int64_t kMaxElements = 64;
        if (value.kind() != tensor::ValueKind::Tensor || !value.tensor().defined())
            return value.kind() != tensor::ValueKind::Tensor;
        const tensor::DType dtype = value.tensor().dtype();
        return value.tensor().numel() <= kMaxElements &&
               (dtype == tensor::DType::Int64 || dtype == tensor::DType::Bool);
    }

    void addExpr(const graph::Expr& expr) {
        m_tokens.push_back(8 + static_cast<std::uint64_t>(expr.kind));
        add(expr.op.domain);
        add(expr.op.name);
        m_tokens.push_back(static_cast<std::uint64_t>(expr.op.version));
        if (expr.kind == graph::ExprKind::CallFunction || expr.kind == graph::ExprKind::CallMethod ||
            expr.kind == graph::ExprKind::Apply)
            add(expr.target);
        for (const tensor::Attribute& attribute : expr.attributes.items()) {
            add(attribute.name);
            addAttribute(attribute.value);
        }
        for (const graph::Argument& argument : expr.arguments) addArgument(argument);
        for (const auto& [name, argument] : expr.keywords) {
            add(name);
            addArgument(argument);
        }
        m_tokens.push_back(expr.outputs.size());
        for (const NodeId output : expr.outputs) {
            const graph::Node& node = m_graph.node(output);
            add(node.type.text());
            if (node.constant && (!expr.isParameter || steers(*node.constant))) addValue(*node.constant);
            m_inside.emplace(output, m_inside.size());
        }
    }

    void addArgument(const graph::Argument& argument) {
        m_tokens.push_back(32 + static_cast<std::uint64_t>(argument.kind));
        if (argument.kind == graph::Argument::Kind::Node) m_read.push_back(argument.node);
        if (argument.kind == graph::Argument::Kind::Constant) addValue(argument.constant);
        m_tokens.push_back(argument.items.size());
        for (const graph::Argument& item : argument.items) addArgument(item);
        for (const tensor::Value& key : argument.keys) addValue(key);
    }

    std::uint64_t number(NodeId node) {
        if (const auto found = m_inside.find(node); found != m_inside.end()) return 2 * found->second;
        const auto [found, isNew] = m_outside.emplace(node, m_outside.size());
        if (isNew) add(m_graph.node(node).type.text());
        return 2 * found->second + 1;
    }

    const Outline& m_outline;
    const InternalGraph& m_graph;
    std::vector<std::uint64_t> m_tokens;
    std::vector<NodeId> m_read;
    std::unordered_map<NodeId, std::uint64_t> m_inside, m_outside;
};

}  // namespace sonde::layout

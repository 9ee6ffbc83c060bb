#include "core/tensor/value.h"

#include <cstdlib>

#include "core/base/number_text.h"
#include "core/base/unicode.h"

namespace sonde::tensor {

std::string_view name(ValueKind kind) {
    switch (kind) {
        case ValueKind::None: return "none";
        case ValueKind::Tensor: return "tensor";
        case ValueKind::Int: return "int";
        case ValueKind::Float: return "float";
        case ValueKind::Bool: return "bool";
        case ValueKind::String: return "string";
        case ValueKind::List: return "list";
        case ValueKind::Tuple: return "tuple";
        case ValueKind::Dict: return "dict";
        case ValueKind::Sequence: return "sequence";
        case ValueKind::Optional: return "optional";
        case ValueKind::Object: return "object";
    }
    return "?";
}

bool Value::isListLike() const {
    return m_kind == ValueKind::List || m_kind == ValueKind::Tuple || m_kind == ValueKind::Sequence ||
           m_kind == ValueKind::Optional;
}

double Value::number() const {
    switch (m_kind) {
        case ValueKind::Int: return static_cast<double>(toInt());
        case ValueKind::Bool: return toBool() ? 1.0 : 0.0;
        default: return toFloat();
    }
}

namespace {

/// Containers may hold each other (and, by way of a script, themselves): stop at some depth.
constexpr int kDepthLimit = 8;

/// So many parts are named: pairs of pairs are soon a billion.
constexpr int kMaxTypes = 200;

std::string typeTextOf(const Value& value, int depth, int& left);

std::string joinTypes(const ValueList& items, int depth, int& left) {
    std::string text;
    for (std::size_t i = 0; i < items.size() && i < 8; ++i)
        text += (i ? ", " : "") + typeTextOf(items[i], depth + 1, left);
    if (items.size() > 8) text += ", …";
    return text;
}

std::string typeTextOf(const Value& value, int depth, int& left) {
    if (depth > kDepthLimit || --left < 0) return "…";
    switch (value.kind()) {
        case ValueKind::Tensor: return value.tensor().typeText();
        case ValueKind::List: return "[" + joinTypes(value.items(), depth, left) + "]";
        case ValueKind::Tuple: return "(" + joinTypes(value.items(), depth, left) + ")";
        case ValueKind::Sequence: return "sequence(" + joinTypes(value.items(), depth, left) + ")";
        case ValueKind::Optional: return "optional(" + joinTypes(value.items(), depth, left) + ")";
        case ValueKind::Object: return value.object() ? value.object()->typeName() : "object";
        case ValueKind::Dict: {
            std::string text = "{";
            std::size_t count = 0;
            for (const auto& [key, item] : value.dictItems()) {
                if (count == 8) return text + ", …}";
                text += (count++ ? ", " : "") + key.text(40) + ": " + typeTextOf(item, depth + 1, left);
            }
            return text + "}";
        }
        default: return std::string(name(value.kind()));
    }
}

void appendText(std::string& text, const Value& value, std::size_t limit, int depth);

void appendItems(std::string& text, const ValueList& items, std::size_t limit, int depth) {
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i) text += ", ";
        if (text.size() > limit) {
            text += "…";
            return;
        }
        appendText(text, items[i], limit, depth + 1);
    }
}

void appendTensor(std::string& text, const Tensor& tensor, std::size_t limit) {
    if (tensor.rank() == 0 && tensor.numel() == 1) {
        text += tensor.elementText(0);
        return;
    }
    text += tensor.typeText() + " {";
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
        if (i) text += ", ";
        if (text.size() > limit) {
            text += "…";
            break;
        }
        text += tensor.elementText(i);
    }
    text += "}";
}

void appendText(std::string& text, const Value& value, std::size_t limit, int depth) {
    if (depth > kDepthLimit || text.size() > limit) {
        text += "…";
        return;
    }
    switch (value.kind()) {
        case ValueKind::None: text += "None"; break;
        case ValueKind::Tensor: appendTensor(text, value.tensor(), limit); break;
        case ValueKind::Int: text += std::to_string(value.toInt()); break;
        case ValueKind::Float: text += base::exactText(value.toFloat()); break;
        case ValueKind::Bool: text += value.toBool() ? "True" : "False"; break;
        case ValueKind::String: {
            const std::string_view shown = base::utf8Prefix(value.toString(), limit);
            text += "'" + std::string(shown) + (shown.size() < value.toString().size() ? "…'" : "'");
            break;
        }
        case ValueKind::Tuple:
            text += "(";
            appendItems(text, value.items(), limit, depth);
            text += value.items().size() == 1 ? ",)" : ")";
            break;
        case ValueKind::List:
        case ValueKind::Sequence:
        case ValueKind::Optional:
            text += "[";
            appendItems(text, value.items(), limit, depth);
            text += "]";
            break;
        case ValueKind::Dict: {
            text += "{";
            bool first = true;
            for (const auto& [key, item] : value.dictItems()) {
                if (!first) text += ", ";
                first = false;
                if (text.size() > limit) {
                    text += "…";
                    break;
                }
                appendText(text, key, limit, depth + 1);
                text += ": ";
                appendText(text, item, limit, depth + 1);
            }
            text += "}";
            break;
        }
        case ValueKind::Object: text += "<" + (value.object() ? value.object()->typeName() : "object") + ">"; break;
    }
}

bool identicalLists(const ValueList& a, const ValueList& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!identical(a[i], b[i])) return false;
    }
    return true;
}

}  // namespace

std::string Value::typeText() const {
    int left = kMaxTypes;
    return typeTextOf(*this, 0, left);
}

std::string Value::text(std::size_t limit) const {
    std::string result;
    appendText(result, *this, limit, 0);
    return result;
}

bool identical(const Value& a, const Value& b) {
    if (a.kind() != b.kind()) return false;
    switch (a.kind()) {
        case ValueKind::None: return true;
        case ValueKind::Tensor: return identical(a.tensor(), b.tensor());
        case ValueKind::Int: return a.toInt() == b.toInt();
        case ValueKind::Float:
            return a.toFloat() == b.toFloat() || (a.toFloat() != a.toFloat() && b.toFloat() != b.toFloat());
        case ValueKind::Bool: return a.toBool() == b.toBool();
        case ValueKind::String: return a.toString() == b.toString();
        case ValueKind::Object: return a.object() == b.object();
        case ValueKind::Dict: {
            const ValueDict &x = a.dictItems(), &y = b.dictItems();
            if (x.size() != y.size()) return false;
            for (std::size_t i = 0; i < x.size(); ++i) {
                if (!identical(x[i].first, y[i].first) || !identical(x[i].second, y[i].second)) return false;
            }
            return true;
        }
        default: return identicalLists(a.items(), b.items());
    }
}

}  // namespace sonde::tensor

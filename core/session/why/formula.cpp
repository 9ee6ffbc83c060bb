#include "core/session/why/formula.h"

#include <cctype>
#include <map>

#include "core/base/number_text.h"
#include "core/expression/expression.h"

namespace sonde::session::why {

using tensor::Tensor;
using tensor::Value;

namespace {

/// The values that a formula is computed with, by name.
class FormulaNames {
  public:
    explicit FormulaNames(const ops::Dependence& dependence) {
        for (const auto& [name, value] : dependence.numbers) m_values.emplace(name, value);
        std::vector<std::vector<double>> values(dependence.parts.size()), weights(dependence.parts.size());
        for (const ops::DependenceTerm& term : dependence.terms) {
            values[term.part].push_back(term.value);
            weights[term.part].push_back(term.weight);
        }
        for (std::size_t i = 0; i < dependence.parts.size(); ++i) {
            const ops::DependencePart& part = dependence.parts[i];
            const bool isList = part.isList || values[i].size() != 1;
            m_values.insert_or_assign(part.name, arrayOrNumber(values[i], isList));
            if (!part.weights.empty()) m_values.insert_or_assign(part.weights, arrayOrNumber(weights[i], isList));
        }
    }

    base::Result<Value> operator()(std::string_view name) const {
        const auto found = m_values.find(name);
        if (found == m_values.end())
            return base::usageError("the formula has no value for '" + std::string(name) + "'");
        return found->second;
    }
    const Value* find(std::string_view name) const {
        const auto found = m_values.find(name);
        return found == m_values.end() ? nullptr : &found->second;
    }

  private:
    // numpy's numbers, not Python's: a division by zero is infinite.
    static Value arrayOrNumber(const std::vector<double>& numbers, bool isList) {
        if (!isList) return Value(Tensor::scalar<double>(numbers.front()));
        return Value(Tensor::of<double>({static_cast<std::int64_t>(numbers.size())}, numbers));
    }

    std::map<std::string, Value, std::less<>> m_values;
};

std::optional<double> numberIn(const Value& value) {
    if (value.isNumber()) return value.number();
    if (value.isTensor() && value.tensor().numel() == 1 && value.tensor().rank() == 0)
        return value.tensor().toDouble(0);
    return std::nullopt;
}

std::optional<double> evaluated(const std::string& text, const FormulaNames& names, const base::WorkContext& work) {
    const auto parsed = expression::parse(text);
    if (!parsed) return std::nullopt;
    const auto value = expression::evaluate(
        *parsed, [&](std::string_view name) { return names(name); }, work);
    return value ? numberIn(*value) : std::nullopt;
}

std::string numberText(double value) {
    const std::string text = base::roundedText(value, 6);
    return value < 0 ? "(" + text + ")" : text;
}

bool isWordStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool isWordPart(char c) { return isWordStart(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Rewrites a formula from left to right.
struct FormulaText {
    const FormulaNames& names;
    const base::WorkContext& work;
    bool hasArrays = false;  ///< some name of an array stayed

    std::string replaced(std::string_view text) {
        std::string result;
        for (std::size_t at = 0; at < text.size();) {
            if (!isWordStart(text[at])) {
                if (std::isdigit(static_cast<unsigned char>(text[at]))) {  // 1e-5 is no name
                    while (at < text.size() && (isWordPart(text[at]) || text[at] == '.')) result += text[at++];
                    continue;
                }
                result += text[at++];
                continue;
            }
            std::size_t end = at;
            while (end < text.size() && isWordPart(text[end])) ++end;
            const std::string word(text.substr(at, end - at));
            if (end < text.size() && text[end] == '(') {
                const std::size_t close = closing(text, end);
                result += call(word, text.substr(end + 1, close - end - 1), text.substr(at, close + 1 - at));
                at = close + 1;
                continue;
            }
            result += name(word);
            at = end;
        }
        return result;
    }

  private:
    static std::size_t closing(std::string_view text, std::size_t open) {
        int depth = 0;
        for (std::size_t i = open; i < text.size(); ++i) {
            if (text[i] == '(') ++depth;
            if (text[i] == ')' && --depth == 0) return i;
        }
        return text.size() - 1;
    }
    std::string name(const std::string& word) {
        const Value* value = names.find(word);
        if (!value) return word;
        if (value->isNone()) return "None";
        if (const auto number = numberIn(*value)) return numberText(*number);
        hasArrays = true;
        return word;
    }
    /// What has numbers inside alone is shown with them; a function of arrays as the number that it gives.
    std::string call(const std::string& function, std::string_view arguments, std::string_view whole) {
        FormulaText inside{names, work};
        const std::string text = function + "(" + inside.replaced(arguments) + ")";
        if (!inside.hasArrays) return text;
        if (const auto value = evaluated(std::string(whole), names, work)) return numberText(*value);
        hasArrays = true;
        return text;
    }
};

}  // namespace

base::Result<double> recombined(const ops::Dependence& dependence, const base::WorkContext& work) {
    if (dependence.byKernel) return *dependence.byKernel;
    SONDE_ASSIGN(const expression::Expression formula, expression::parse(dependence.formula));
    const FormulaNames names(dependence);
    SONDE_ASSIGN(const Value value, expression::evaluate(
                                        formula, [&](std::string_view name) { return names(name); }, work));
    if (const auto number = numberIn(value)) return *number;
    if (value.isTensor() && value.tensor().numel() == 1) return value.tensor().toDouble(0);
    return base::usageError("the formula '" + dependence.formula + "' gives " + value.typeText());
}

std::string withNumbers(const ops::Dependence& dependence, const base::WorkContext& work) {
    const FormulaNames names(dependence);
    FormulaText text{names, work};
    return text.replaced(dependence.formula);
}

}  // namespace sonde::session::why

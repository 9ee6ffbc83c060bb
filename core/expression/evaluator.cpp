#include <exception>
#include <map>
#include <new>
#include <stdexcept>
#include <utility>

#include "core/expression/elementwise.h"
#include "core/expression/expression.h"
#include "core/expression/functions.h"
#include "core/expression/indexing.h"

namespace sonde::expression {

namespace {

using tensor::Value;
using Kind = Term::Kind;

/// Computes the terms of one expression from the inside out.
class TermEvaluator {
  public:
    TermEvaluator(const Names& names, Workspace& workspace) : m_names(names), m_workspace(workspace) {}

    /// Throws LocatedProblem and Cancelled.
    Value of(const Term& term) {
        m_workspace.checkStop();
        switch (term.kind) {
            case Kind::Constant: return term.constant;
            case Kind::Name: return named(term);
            case Kind::List: return Value::list(all(term));
            case Kind::Tuple: return Value::tuple(all(term));
            case Kind::Unary: {
                const Value a = of(term.parts[0]);
                return at(term.at, [&] { return unary(m_workspace, term.op, a); });
            }
            case Kind::Binary: {
                const Value a = of(term.parts[0]), b = of(term.parts[1]);
                return at(term.at, [&] { return binary(m_workspace, term.op, a, b); });
            }
            case Kind::Logical: return logical(term);
            case Kind::Chain: return chain(term);
            case Kind::Call: {
                const tensor::ValueList arguments = all(term);
                return at(term.at, [&] { return term.function->apply(m_workspace, arguments); });
            }
            case Kind::Index: return index(term);
            case Kind::Slice:
            case Kind::Ellipsis: break;  // by index()
        }
        return {};
    }

  private:
    /// Problems inside are at that byte of the text.
    template <typename Compute>
    static auto at(std::size_t place, Compute compute) -> decltype(compute()) {
        try {
            return compute();
        } catch (const Problem& problem) {
            throw LocatedProblem{problem, place};
        }
    }

    tensor::ValueList all(const Term& term) {
        tensor::ValueList values;
        values.reserve(term.parts.size());
        for (const Term& part : term.parts) values.push_back(of(part));
        return values;
    }

    Value named(const Term& term) {
        if (const auto known = m_known.find(term.name); known != m_known.end()) return known->second;
        base::Result<Value> value = m_names(term.name);
        if (!value) {
            if (value.error().kind == base::ErrorKind::Cancelled) throw Cancelled{};
            throw LocatedProblem{{value.error().what, value.error().hint}, term.at};
        }
        return m_known.emplace(term.name, std::move(*value)).first->second;
    }

    /// As in Python: the last value that was needed.
    Value logical(const Term& term) {
        Value value;
        for (const Term& part : term.parts) {
            value = of(part);
            if (&part == &term.parts.back()) break;
            const bool isTrue = at(part.at, [&] { return truth(value); });
            if (isTrue == (term.op == Operator::Or)) break;
        }
        return value;
    }

    /// a < b < c is a < b and b < c.
    Value chain(const Term& term) {
        Value left = of(term.parts[0]), result;
        for (std::size_t i = 0; i < term.comparisons.size(); ++i) {
            if (i > 0) {
                if (result.isTensor() && result.tensor().numel() != 1)
                    throw LocatedProblem{{"comparisons of arrays cannot be chained; write (a < b) & (b < c)"},
                                         term.comparisonsAt[i]};
                if (!at(term.comparisonsAt[i], [&] { return truth(result); })) return result;
            }
            const Value right = of(term.parts[i + 1]);
            result = at(term.comparisonsAt[i], [&] { return binary(m_workspace, term.comparisons[i], left, right); });
            left = right;
        }
        return result;
    }

    Value index(const Term& term) {
        const Value array = of(term.parts[0]);
        std::vector<IndexItem> items;
        for (std::size_t i = 1; i < term.parts.size(); ++i) {
            const Term& part = term.parts[i];
            IndexItem& item = items.emplace_back();
            if (part.kind == Kind::Ellipsis) {
                item.kind = IndexItem::Kind::Ellipsis;
            } else if (part.kind == Kind::Slice) {
                item.kind = IndexItem::Kind::Slice;
                item.start = of(part.parts[0]);
                item.stop = of(part.parts[1]);
                item.step = of(part.parts[2]);
            } else {
                item.value = of(part);
            }
        }
        return at(term.at, [&] { return indexed(m_workspace, array, items); });
    }

    const Names& m_names;
    Workspace& m_workspace;
    std::map<std::string, Value> m_known;
};

/// What a computation throws as an error.
template <typename Compute>
auto guarded(const Expression& expression, Compute compute) -> base::Result<decltype(compute())> {
    const auto failed = [&](Problem problem) { return errorOf({std::move(problem), 0}, expression.text()); };
    if (expression.empty()) return failed({"the expression is empty"});
    try {
        return compute();
    } catch (const LocatedProblem& located) {
        return errorOf(located, expression.text());
    } catch (const Problem& problem) {
        return failed(problem);
    } catch (const Cancelled&) {
        return base::cancelled("evaluating an expression");
    } catch (const std::bad_alloc&) {
        return failed({"there is not enough memory"});
    } catch (const std::exception& error) {
        return failed({error.what()});
    }
}

}  // namespace

base::Result<Value> evaluate(const Expression& expression, const Names& names, const base::WorkContext& work,
                             const Limits& limits) {
    return guarded(expression, [&] {
        Workspace workspace(limits, work);
        return TermEvaluator(names, workspace).of(expression.root());
    });
}

base::Result<tensor::Tensor> evaluateArray(const Expression& expression, const Names& names,
                                           const base::WorkContext& work, const Limits& limits) {
    return guarded(expression, [&] {
        Workspace workspace(limits, work);
        return workspace.contiguous(arrayOf(workspace, TermEvaluator(names, workspace).of(expression.root())));
    });
}

base::Result<bool> isTrue(const Expression& condition, const Names& names, const base::WorkContext& work,
                          const Limits& limits) {
    SONDE_ASSIGN(const Value value, evaluate(condition, names, work, limits));
    return guarded(condition, [&] {
        if (!value.isNumber() && !value.isTensor())
            throw Problem{"a condition is a number or a bool, not " + value.typeText()};
        return truth(value);
    });
}

}  // namespace sonde::expression

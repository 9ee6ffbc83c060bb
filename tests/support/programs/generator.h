#pragma once

#include <random>
#include <set>

#include "tests/support/programs/interpreter.h"

/// Random programs, each of which PyTorch would run: what the interpreter refuses is not taken in. Some end with a
/// statement that PyTorch raises at.
namespace sonde::test::programs {

inline std::vector<Array> inputsFor(const Program& program, std::uint64_t seed) {
    std::mt19937_64 engine(seed * 2654435761U + 1);
    std::vector<Array> inputs;
    for (const Ints& shape : program.inputs) {
        Array input = Array::dense(shape);
        // Halves are exact, and so are sums and products of a few of them.
        for (double& each : *input.memory) each = static_cast<double>(static_cast<std::int64_t>(engine() % 17) - 8) / 2;
        inputs.push_back(std::move(input));
    }
    return inputs;
}

class Generator {
  public:
    /// The same seed gives the same program, on any machine. `isShared`: with chains of views that are written at
    /// several levels, and tensors that leave branches, loops and lists while others have their memory.
    static Program make(std::uint64_t seed, bool isShared = false);

  private:
    Generator(std::uint64_t seed, bool isShared) : m_engine(seed), m_isShared(isShared) {}

    struct Scope {
        Arrays variables;
        std::vector<std::string> names;  ///< in the order in which they were made
        std::vector<Statement> statements;
        int depth = 0;
    };

    std::int64_t pick(std::int64_t count) {
        return static_cast<std::int64_t>(m_engine() % static_cast<std::uint64_t>(count));
    }
    Type someType() { return static_cast<Type>(pick(4)); }
    bool chance(int percent) { return pick(100) < percent; }
    std::string fresh() { return "v" + std::to_string(m_count++); }
    std::int64_t between(std::int64_t low, std::int64_t high) { return low + pick(high - low + 1); }

    /// Recent ones more often: chains of views and what comes behind them.
    const std::string& any(const Scope& scope) {
        const auto count = static_cast<std::int64_t>(scope.names.size());
        const std::int64_t at = chance(50) ? count - 1 - pick(std::min<std::int64_t>(count, 3)) : pick(count);
        return scope.names[static_cast<std::size_t>(at)];
    }

    Program program(std::uint64_t seed) {
        Program made;
        made.seed = seed;
        for (std::int64_t i = between(1, 2); i > 0; --i) {
            Ints shape;
            for (std::int64_t d = chance(10) ? 1 : between(1, 3); d > 0; --d) shape.push_back(between(1, 4));
            made.inputs.push_back(std::move(shape));
        }
        Scope scope;
        const std::vector<Array> inputs = inputsFor(made, seed);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            scope.names.push_back("in" + std::to_string(i));
            scope.variables[scope.names.back()] = std::make_shared<Array>(inputs[i]);
        }
        // Most programs write to a copy; some to what their caller has.
        if (!chance(20)) tryAdd(scope, Statement{fresh(), "clone", {scope.names.front()}, {}, {}, {}, {}});
        if (m_isShared && chance(30)) addChain(scope, made.results);
        const std::int64_t count = between(3, 12);
        for (std::int64_t i = 0; i < count; ++i) addStatement(scope);
        made.raises = chance(15) && addRaising(scope);
        // What raises is not dead code: what it would have written is read.
        if (made.raises) made.results.push_back(scope.statements.back().operands.front());
        for (std::int64_t i = between(1, 3); i > 0; --i) made.results.push_back(any(scope));
        made.statements = std::move(scope.statements);
        return made;
    }

    /// The tensors with the shapes that they have now.
    static std::vector<std::pair<std::shared_ptr<Array>, Array>> objectsOf(const Scope& scope) {
        std::vector<std::pair<std::shared_ptr<Array>, Array>> objects;
        for (const auto& [name, array] : scope.variables) objects.emplace_back(array, *array);
        return objects;
    }

    /// Runs the statement in the scope; if PyTorch takes it, it belongs to the program.
    bool tryAdd(Scope& scope, Statement statement) {
        const Arrays before = scope.variables;
        const std::vector<std::pair<std::shared_ptr<Array>, Array>> objects = objectsOf(scope);
        try {
            Interpreter::run(statement, scope.variables);
            for (const auto& [name, array] : scope.variables) {
                if (array->count() > 512 || array->rank() > 5) throw Invalid("too large");
            }
        } catch (const Invalid&) {
            scope.variables = before;
            for (const auto& [object, was] : objects) *object = was;
            return false;
        }
        if (!statement.result.empty() &&
            std::find(scope.names.begin(), scope.names.end(), statement.result) == scope.names.end()) {
            scope.names.push_back(statement.result);
        }
        scope.statements.push_back(std::move(statement));
        return true;
    }

    void addStatement(Scope& scope) {
        for (int attempt = 0; attempt < 20; ++attempt) {
            const std::int64_t kind = pick(100);
            Statement statement = kind < 36   ? view(scope)
                                  : kind < 70 ? write(scope)
                                  : kind < 88 ? value(scope)
                                              : compound(scope);
            if (!statement.operation.empty() && tryAdd(scope, std::move(statement))) return;
        }
    }

    /// Views of views, writes at several of these levels, and reads of them.
    void addChain(Scope& scope, std::vector<std::string>& results) {
        std::vector<std::string> levels{scope.names.back()};
        for (std::int64_t i = between(2, 4); i > 0; --i) {
            for (int attempt = 0; attempt < 20; ++attempt) {
                Statement made = viewOf(scope, levels.back());
                const std::string name = made.result;
                if (!tryAdd(scope, std::move(made))) continue;
                levels.push_back(name);
                break;
            }
        }
        const auto someLevel = [&] { return levels[static_cast<std::size_t>(pick(std::ssize(levels)))]; };
        for (std::int64_t i = between(2, 4); i > 0; --i) {
            for (int attempt = 0; attempt < 20 && !tryAdd(scope, writeTo(scope, someLevel())); ++attempt) {
            }
            if (chance(30)) tryAdd(scope, Statement{fresh(), "clone", {someLevel()}, {}, {}, {}, {}});
        }
        for (std::int64_t i = between(1, 2); i > 0; --i) results.push_back(someLevel());
    }

    /// A statement at which the program ends with an error.
    bool addRaising(Scope& scope) {
        for (int attempt = 0; attempt < 40; ++attempt) {
            Statement statement = chance(70) ? write(scope) : required(scope);
            Arrays variables = scope.variables;
            try {
                Interpreter::run(statement, variables);
                return false;  // it has written
            } catch (const Raises&) {
                statement.result.clear();
                scope.statements.push_back(std::move(statement));
                return true;
            } catch (const Invalid&) {
                continue;
            }
        }
        return false;
    }

    /// A module that runs on values where the trace cannot know them, and whose result nobody reads.
    Statement required(Scope& scope) {
        Statement made{fresh(), "require", {any(scope)}, {}, {}, {}, {}};
        made.number = number();
        return made;
    }

    std::int64_t someDim(const Array& x, std::int64_t extra = 0) {
        const std::int64_t rank = x.rank() + extra;
        const std::int64_t d = rank > 0 ? pick(rank) : 0;
        return chance(25) ? d - rank : d;
    }
    static std::int64_t sizeOf(const Array& x, std::int64_t d) { return x.rank() == 0 ? 1 : x.shape[x.dim(d)]; }

    IndexPart part(std::int64_t size) {
        if (chance(40)) return {IndexPart::Kind::Number, chance(30) ? -between(1, size) : pick(size)};
        const std::int64_t start = pick(size);
        return {IndexPart::Kind::Slice, start, between(start + 1, size), chance(20) ? 2 : 1};
    }

    std::vector<IndexPart> index(const Array& x) {
        std::vector<IndexPart> parts;
        if (x.rank() == 0) return {{IndexPart::Kind::Ellipsis}};
        if (chance(20)) return {{IndexPart::Kind::Ellipsis}, part(x.shape.back())};
        for (std::int64_t d = 0; d < x.rank() && (d == 0 || chance(60)); ++d)
            parts.push_back(part(x.shape[static_cast<std::size_t>(d)]));
        return parts;
    }

    /// Another shape of as many elements.
    Ints otherShape(const Array& x) {
        if (chance(40)) return {-1};
        Ints shape;
        std::int64_t left = x.count();
        while (left > 1 && shape.size() < 3) {
            std::int64_t factor = between(1, std::min<std::int64_t>(left, 4));
            while (left % factor != 0) --factor;
            shape.push_back(factor);
            left /= factor;
        }
        if (left > 1 || shape.empty()) shape.push_back(left);
        return shape;
    }

    Statement view(Scope& scope) { return viewOf(scope, any(scope)); }
    Statement viewOf(Scope& scope, const std::string& name) {
        const Array& x = *scope.variables.at(name);
        Statement made{fresh(), "", {name}, {}, {}, {}, {}};
        const std::int64_t d = someDim(x), size = sizeOf(x, d);
        switch (pick(22)) {
            case 0:
            case 1: {
                const std::int64_t start = pick(size);
                made.operation = "narrow";
                made.integers = {d, start, between(1, size - start)};
                break;
            }
            // clang-format off
            case 2: made.operation = "select"; made.integers = {d, pick(size)}; break;
            case 3: case 4: case 5: made.operation = "getitem"; made.index = index(x); break;
            case 6: case 7: made.operation = "view"; made.integers = otherShape(x); break;
            case 8: made.operation = "reshape"; made.integers = otherShape(x); break;
            // clang-format on
            case 9: made.operation = "flatten"; break;
            case 10: made.operation = "contiguous"; break;
            case 11:
                made.operation = "transpose";
                made.integers = {d, someDim(x)};
                break;
            case 12: made.operation = "t"; break;
            case 13: {
                made.operation = "permute";
                for (std::int64_t i = 0; i < x.rank(); ++i) made.integers.push_back(i);
                for (std::int64_t i = x.rank(); i-- > 1;)
                    std::swap(made.integers[static_cast<std::size_t>(i)],
                              made.integers[static_cast<std::size_t>(pick(i + 1))]);
                break;
            }
            // clang-format off
            case 14: made.operation = "unsqueeze"; made.integers = {someDim(x, 1)}; break;
            case 15: made.operation = "squeeze"; made.integers = {d}; break;
            case 16: made.operation = "expand"; made.integers = x.shape; made.integers.insert(made.integers.begin(), between(1, 3)); break;
            case 17: made.operation = "chunk"; made.integers = {between(1, 3), d, pick(2)}; break;
            case 18: made.operation = "split"; made.integers = {between(1, 2), d, pick(2)}; break;
            case 19: made.operation = "unbind"; made.integers = {d, pick(size)}; break;
            // clang-format on
            case 20: made.operation = "detach"; break;
            default: made.operation = chance(50) ? "diagonal" : "alias"; break;
        }
        return made;
    }

    double number() { return static_cast<double>(between(-6, 6)) / 2; }

    Statement write(Scope& scope) { return writeTo(scope, any(scope)); }
    Statement writeTo(Scope& scope, const std::string& name) {
        const Array& x = *scope.variables.at(name);
        Statement made{chance(25) ? fresh() : "", "", {name}, {}, {}, {}, {}};
        const std::string& other = any(scope);
        // Other shapes mostly where they are seen: tracers refuse them inside of calls.
        switch (pick(chance(scope.depth == 0 ? 50 : 10) ? 20 : 16)) {
            case 16: made.operation = "t_"; break;
            // clang-format off
            case 17: made.operation = "unsqueeze_"; made.integers = {someDim(x, 1)}; break;
            case 18: made.operation = "squeeze_"; made.integers = {someDim(x)}; break;
            case 19: made.operation = "transpose_"; made.integers = {someDim(x), someDim(x)}; break;
            case 0: case 1: made.operation = "add_"; made.number = number(); break;
            case 2: case 3: made.operation = "add_"; made.operands.push_back(other); break;
            case 4: made.operation = "sub_"; made.operands.push_back(other); break;
            case 5: made.operation = "mul_"; made.number = chance(50) ? 2 : -1; break;
            // clang-format on
            case 6: made.operation = chance(50) ? "neg_" : "relu_"; break;
            case 7: made.operation = chance(50) ? "zero_" : "clamp_"; break;
            // clang-format off
            case 8: made.operation = "fill_"; made.number = number(); break;
            case 9: case 10: made.operation = "copy_"; made.operands.push_back(other); break;
            case 11: made.operation = "masked_fill_"; made.operands.push_back(other); made.number = number(); break;
            case 12: made.operation = x.rank() > 0 ? "setmask" : "zero_"; made.result.clear(); if (x.rank() > 0) made.number = number(); break;
            // clang-format on
            default:
                made.operation = "setitem";
                made.result.clear();
                made.index = index(x);
                if (chance(50)) made.number = number();
                else made.operands.push_back(other);
        }
        return made;
    }

    Statement value(Scope& scope) {
        const std::string& name = any(scope);
        const Array& x = *scope.variables.at(name);
        Statement made{fresh(), "", {name}, {}, {}, {}, {}};
        const std::string& other = any(scope);
        switch (pick(14)) {
            // clang-format off
            case 12: case 13: made.operation = "to"; made.integers = {static_cast<std::int64_t>(someType())}; break;
            case 0: case 1: made.operation = "clone"; break;
            case 2: case 3: made.operation = "add"; made.number = number(); break;
            case 4: made.operation = "add"; made.operands.push_back(other); break;
            case 5: made.operation = "sub"; made.operands.push_back(other); break;
            case 6: made.operation = "mul"; made.number = chance(50) ? 0.5 : -1; break;
            // clang-format on
            case 7: made.operation = chance(50) ? "neg" : "relu"; break;
            case 8:
                made.operation = chance(50) ? "maximum" : "where";
                made.operands.push_back(other);
                break;
            case 9:
                made.operation = "sum";
                made.integers = {someDim(x)};
                break;
            case 10:
                made.operation = "cat";
                made.operands.push_back(other);
                made.integers = {someDim(x)};
                break;
            default: made.operation = "zeros_like"; break;
        }
        return made;
    }

    /// A copy of all that operands hold, shared as it is shared, under other names.
    static Arrays copiesOf(const Scope& scope, const std::vector<std::string>& operands,
                           const std::vector<std::string>& parameters) {
        Arrays copies;
        std::map<const void*, std::shared_ptr<std::vector<double>>> memory;
        std::map<const Array*, std::shared_ptr<Array>> objects;
        for (std::size_t i = 0; i < operands.size(); ++i) {
            const std::shared_ptr<Array>& array = scope.variables.at(operands[i]);
            std::shared_ptr<Array>& object = objects[array.get()];
            if (!object) {
                object = std::make_shared<Array>(*array);
                auto& copy = memory[array->memory.get()];
                if (!copy) copy = std::make_shared<std::vector<double>>(*array->memory);
                object->memory = copy;
            }
            copies[parameters[i]] = object;
        }
        return copies;
    }

    /// Some statements in a function of some variables.
    Function function(const Scope& outer, const std::vector<std::string>& operands, std::int64_t most,
                      std::int64_t least = 1) {
        Function made;
        Scope inside;
        inside.depth = outer.depth + 1;
        for (std::size_t i = 0; i < operands.size(); ++i) made.parameters.push_back(fresh());
        // What the inside does to memory must not be done yet.
        inside.names = made.parameters;
        inside.variables = copiesOf(outer, operands, made.parameters);
        for (std::int64_t i = between(least, most); i > 0; --i) addStatement(inside);
        made.result = any(inside);
        made.statements = std::move(inside.statements);
        return made;
    }

    Statement compound(Scope& scope) {
        if (scope.depth >= 2) return {};
        if (chance(6)) return required(scope);
        Statement made{fresh(), "", {}, {}, {}, {}, {}};
        for (std::int64_t i = between(1, 2); i > 0; --i) made.operands.push_back(any(scope));
        const std::int64_t kind = pick(m_isShared ? 13 : 10), least = m_isShared ? 0 : 1;
        if (kind >= 11) return choice(scope, kind == 11);
        if (kind < 4) {
            made.operation = "call";
            made.functions.push_back(function(scope, made.operands, 4));
        } else if (kind < 8) {
            made.operation = kind < 6 ? "cond" : "if";
            made.number = number();
            made.functions.push_back(function(scope, made.operands, 3, least));
            // Both branches give one shape, or what comes behind would depend on the data.
            made.functions.push_back(function(scope, made.operands, 3, least));
            if (!givesOneShape(scope, made)) return {};
        } else {
            made.operation = "for";
            made.result.clear();
            made.integers = {between(2, 3)};
            Function inside = function(scope, made.operands, 3);
            // A variable from outside that is another tensor in the next pass.
            if (m_isShared && chance(50) && inside.result != inside.parameters.front())
                inside.statements.push_back({inside.parameters.front(), "alias", {inside.result}, {}, {}, {}, {}});
            renameParameters(inside.statements, inside.parameters, made.operands);
            inside.parameters.clear();
            inside.result.clear();
            made.functions.push_back(std::move(inside));
            made.operands.clear();
        }
        return made;
    }

    /// One of two tensors of one form, which the data decide: an element of a list, or a branch that gives a tensor as
    /// it is while the other one may give a new one.
    Statement choice(Scope& scope, bool fromList) {
        Statement made{fresh(), fromList ? "pick" : "if", {any(scope)}, {}, {}, {}, {}};
        const Array& first = *scope.variables.at(made.operands.front());
        std::vector<std::string> others;
        for (const auto& [name, array] : scope.variables) {
            if (array->shape == first.shape && array->strides == first.strides && array->type == first.type &&
                array->isLayoutKnown == first.isLayoutKnown && name != made.operands.front())
                others.push_back(name);
        }
        if (others.empty()) return {};
        made.operands.push_back(others[static_cast<std::size_t>(pick(std::ssize(others)))]);
        made.number = number();
        for (std::size_t i = 0; i < 2; ++i) {
            Function branch{{fresh(), fresh()}, {}, {}};
            branch.result = branch.parameters[i];
            if (!fromList && i == 1 && chance(50)) {
                branch.statements.push_back({fresh(), "neg", {branch.parameters[0]}, {}, {}, {}, {}});
                branch.result = branch.statements.back().result;
            }
            made.functions.push_back(std::move(branch));
        }
        return givesOneShape(scope, made) ? made : Statement{};
    }

    static void renameParameters(std::vector<Statement>& statements, const std::vector<std::string>& from,
                                 const std::vector<std::string>& to) {
        for (Statement& each : statements) {
            const auto rename = [&](std::string& name) {
                const auto at = std::find(from.begin(), from.end(), name);
                if (at != from.end()) name = to[static_cast<std::size_t>(at - from.begin())];
            };
            std::ranges::for_each(each.operands, rename);
            rename(each.result);
        }
    }

    bool givesOneShape(const Scope& scope, const Statement& branch) {
        std::vector<Array> results;
        for (const Function& function : branch.functions) {
            Arrays inside = copiesOf(scope, branch.operands, function.parameters);
            try {
                Interpreter::run(function.statements, inside);
            } catch (const Invalid&) {
                return false;  // on what it is given now
            }
            results.push_back(*inside.at(function.result));
        }
        const Array &a = results.front(), &b = results.back();
        return a.shape == b.shape && a.strides == b.strides && a.type == b.type && a.isLayoutKnown == b.isLayoutKnown;
    }

    std::mt19937_64 m_engine;
    bool m_isShared;
    int m_count = 0;
};

// Shrinking.

namespace detail {

/// Every variable has been made before it is read, in branches that are not taken as well.
inline bool isWellFormed(const std::vector<Statement>& statements, std::set<std::string> known,
                         const std::vector<std::string>& results) {
    for (const Statement& each : statements) {
        for (const std::string& operand : each.operands) {
            if (!known.contains(operand)) return false;
        }
        for (const Function& function : each.functions) {
            const bool isLoop = each.operation == "for";
            std::set<std::string> inside =
                isLoop ? known : std::set<std::string>(function.parameters.begin(), function.parameters.end());
            if (!isWellFormed(function.statements, std::move(inside),
                              isLoop ? std::vector<std::string>() : std::vector<std::string>{function.result}))
                return false;
            if (!isLoop) continue;
            for (const Statement& inner : function.statements) known.insert(inner.result);
        }
        known.insert(each.result);
    }
    return std::all_of(results.begin(), results.end(),
                       [&](const std::string& result) { return known.contains(result); });
}

}  // namespace detail

/// PyTorch runs it (with the inputs that belong to its seed).
inline bool isValid(const Program& program) {
    std::set<std::string> inputs;
    for (std::size_t i = 0; i < program.inputs.size(); ++i) inputs.insert("in" + std::to_string(i));
    if (!detail::isWellFormed(program.statements, std::move(inputs), program.results)) return false;
    try {
        Interpreter::run(program, inputsFor(program, program.seed));
        return !program.raises;
    } catch (const Raises&) {
        return program.raises;
    } catch (const Invalid&) {
        return false;
    }
}

inline Program Generator::make(std::uint64_t seed, bool isShared) {
    for (std::uint64_t attempt = 0;; ++attempt) {
        Generator generator(seed + (attempt << 32), isShared);
        Program made = generator.program(seed);
        if (isValid(made)) return made;
    }
}

namespace detail {

/// Every program with one statement less, outer statements first.
inline void lessOne(std::vector<Statement>& statements, const std::function<bool()>& keeps) {
    for (std::size_t i = statements.size(); i-- > 0;) {
        const Statement taken = statements[i];
        statements.erase(statements.begin() + static_cast<std::ptrdiff_t>(i));
        if (keeps()) continue;
        statements.insert(statements.begin() + static_cast<std::ptrdiff_t>(i), taken);
        for (Function& function : statements[i].functions) lessOne(function.statements, keeps);
    }
}

}  // namespace detail

/// A small program that still fails: statements and results are taken out as long as `fails` says so.
inline Program shrunk(Program program, const std::function<bool(const Program&)>& fails) {
    const auto keeps = [&] { return isValid(program) && fails(program); };
    for (std::size_t before = 0; before != countStatements(program.statements) + program.results.size();) {
        before = countStatements(program.statements) + program.results.size();
        for (std::size_t i = program.results.size(); i-- > 0 && program.results.size() > 1;) {
            const std::vector<std::string> all = program.results;
            program.results.erase(program.results.begin() + static_cast<std::ptrdiff_t>(i));
            if (!keeps()) program.results = all;
        }
        detail::lessOne(program.statements, keeps);
    }
    return program;
}

}  // namespace sonde::test::programs

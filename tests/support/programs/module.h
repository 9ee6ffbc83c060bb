#pragma once

#include <map>

#include "core/nn/functional.h"
#include "core/nn/module.h"
#include "core/trace/custom_cond.h"
#include "core/trace/record.h"
#include "tests/support/programs/array.h"
#include "tests/support/programs/program.h"

/// Programs as modules of Sonde, written as a user writes a forward: methods of tensors, operators, assignments,
/// branches.
namespace sonde::test::programs {

using nn::Var;

/// Ends the run unless the sum of what it is given is large enough.
class RequireModule final : public nn::Module {
  public:
    explicit RequireModule(double least) : m_least(least) {}
    std::string className() const override { return "Require"; }
    std::vector<trace::ForwardParameter> signature() const override { return {{"x", {}, false, true}}; }
    Var forward(std::span<const Var> in) override {
        if (!(in[0].method("sum") > Var(m_least)).toBool()) throw std::runtime_error("the sum is too small");
        return in[0].method("clone");
    }

  private:
    double m_least;
};

class ProgramModule final : public nn::Module {
  public:
    explicit ProgramModule(const Program& program) : m_statements(program.statements), m_results(program.results) {
        for (std::size_t i = 0; i < program.inputs.size(); ++i) m_parameters.push_back("in" + std::to_string(i));
        addChildren(m_statements);
    }
    /// A function of a program: the inside of a call.
    explicit ProgramModule(const Function& function)
        : m_statements(function.statements), m_results{function.result}, m_parameters(function.parameters) {
        addChildren(m_statements);
    }
    /// An `if` has a module of its own, so that tracers that cannot follow it may leave just that one closed.
    explicit ProgramModule(const Statement& branch) : m_branch(branch) {
        for (std::size_t i = 0; i < branch.operands.size(); ++i) m_parameters.push_back("x" + std::to_string(i));
        for (const Function& function : branch.functions) addChildren(function.statements);
    }

    std::string className() const override { return m_branch ? "Branch" : "Program"; }
    std::vector<trace::ForwardParameter> signature() const override {
        std::vector<trace::ForwardParameter> parameters;
        for (const std::string& name : m_parameters) parameters.push_back({name, {}, false, true});
        return parameters;
    }

    bool makesTensor() const override { return m_results.size() <= 1; }

    Var forward(std::span<const Var> in) override {
        if (m_branch) {
            const bool isTrue = decides(*m_branch, in[0]).toBool();
            return runFunction(m_branch->functions[isTrue ? 0 : 1], in);
        }
        Variables variables;
        for (std::size_t i = 0; i < in.size(); ++i) variables[m_parameters[i]] = in[i];
        run(m_statements, variables);
        std::vector<Var> results;
        for (const std::string& name : m_results) results.push_back(variables.at(name));
        return results.size() == 1 ? results.front() : Var::tuple(std::move(results));
    }

  private:
    using Variables = std::map<std::string, Var>;

    static bool isBranch(const Statement& statement) {
        return statement.operation == "if" || statement.operation == "pick";
    }

    void addChildren(const std::vector<Statement>& statements) {
        for (const Statement& each : statements) {
            if (each.operation == "require")
                add("require_" + each.result, std::make_shared<RequireModule>(*each.number));
            else if (each.operation == "call")
                add("call_" + each.result, std::make_shared<ProgramModule>(each.functions.front()));
            else if (isBranch(each)) add("branch_" + each.result, std::make_shared<ProgramModule>(each));
            else
                for (const Function& function : each.functions) addChildren(function.statements);
        }
    }

    static Var decides(const Statement& branch, const Var& x) { return x.method("sum") > Var(*branch.number); }

    Var runFunction(const Function& function, std::span<const Var> in) {
        Variables variables;
        for (std::size_t i = 0; i < function.parameters.size(); ++i) variables[function.parameters[i]] = in[i];
        run(function.statements, variables);
        return variables.at(function.result);
    }

    void run(const std::vector<Statement>& statements, Variables& variables) {
        for (const Statement& each : statements) run(each, variables);
    }

    void run(const Statement& statement, Variables& variables) {
        const std::string& op = statement.operation;
        if (op == "for") {
            for (std::int64_t i = 0; i < statement.integers.at(0); ++i)
                run(statement.functions.at(0).statements, variables);
            return;
        }
        std::vector<Var> in;
        for (const std::string& operand : statement.operands) in.push_back(variables.at(operand));
        Var result;
        if (op == "require") result = use("require_" + statement.result).call(in, {});
        else if (op == "call") result = use("call_" + statement.result).call(in, {});
        else if (isBranch(statement)) result = use("branch_" + statement.result).call(in, {});
        else if (op == "cond") result = condition(statement, in);
        else if (op.ends_with('_') || op == "setitem" || op == "setmask") result = write(statement, in);
        else result = value(statement, in);
        if (!statement.result.empty()) variables[statement.result] = std::move(result);
    }

    Var condition(const Statement& statement, const std::vector<Var>& in) {
        const auto branch = [this, &statement](std::size_t i, const char* name) {
            return trace::NamedFunction{name, [this, function = statement.functions[i]](std::span<const Var> operands) {
                                            return runFunction(function, operands);
                                        }};
        };
        return trace::cond(decides(statement, in[0]), branch(0, "when_true"), branch(1, "when_false"), Var::list(in));
    }

    static Var indexOf(const Statement& statement) {
        std::vector<Var> parts;
        for (const IndexPart& part : statement.index) {
            if (part.kind == IndexPart::Kind::Number) parts.emplace_back(part.start);
            else if (part.kind == IndexPart::Kind::Ellipsis) parts.push_back(Var::ellipsis());
            else if (part.step == 1) parts.push_back(Var::slice(part.start, part.stop));
            else parts.push_back(Var::slice(part.start, part.stop, part.step));
        }
        return parts.size() == 1 ? parts.front() : Var::tuple(std::move(parts));
    }

    /// Numbers of c10::ScalarType.
    static std::int64_t scalarType(Type type) {
        constexpr std::int64_t kNumbers[] = {4, 5, 6, 7};
        return kNumbers[static_cast<std::size_t>(type)];
    }

    static Var integers(const Statement& statement) {
        std::vector<Var> items(statement.integers.begin(), statement.integers.end());
        return Var::list(std::move(items));
    }

    static Var torch(std::string_view op, std::string_view name, std::vector<Var> arguments) {
        return trace::callFunction(trace::Function{op, name, name}, std::move(arguments));
    }

    static Var value(const Statement& statement, const std::vector<Var>& in) {
        const std::string& op = statement.operation;
        const std::vector<std::int64_t>& n = statement.integers;
        const Var& x = in[0];
        if (op == "alias") return x;
        if (op == "getitem") return x[indexOf(statement)];
        if (op == "narrow") return x.method(op, {n[0], n[1], n[2]}, {});
        if (op == "select") return x.method(op, {n[0], n[1]}, {}, "select.int");
        if (op == "transpose") return x.method(op, {n[0], n[1]}, {}, "transpose.int");
        if (op == "view" || op == "reshape" || op == "permute" || op == "expand")
            return x.method(op, {integers(statement)}, {});
        if (op == "to") return x.method(op, {scalarType(static_cast<Type>(n[0]))}, {}, "to.dtype").method("clone");
        if (op == "flatten") return torch("flatten.using_ints", "flatten", {x});
        if (op == "squeeze") return x.method(op, {n[0]}, {}, "squeeze.dim");
        if (op == "unsqueeze") return x.method(op, {n[0]}, {});
        if (op == "view_as" || op == "expand_as") return x.method(op, {in[1]}, {});
        if (op == "chunk") return x.method(op, {n[0], n[1]}, {})[n[2]];
        if (op == "split") return x.method(op, {n[0], n[1]}, {}, "split.Tensor")[n[2]];
        if (op == "unbind") return x.method(op, {n[0]}, {}, "unbind.int")[n[1]];
        if (op == "add") return in.size() > 1 ? x + in[1] : x + Var(*statement.number);
        if (op == "sub") return x - in[1];
        if (op == "mul") return x * Var(*statement.number);
        if (op == "neg") return -x;
        if (op == "relu") return nn::relu(x);
        if (op == "maximum") return torch("maximum", "maximum", {x, in[1]});
        if (op == "where") return torch("where.self", "where", {x > Var(0), x, in[1]});
        if (op == "sum") return x.method(op, {Var(n)}, {}, "sum.dim_IntList");
        if (op == "cat") return nn::cat(std::vector<Var>{x, in[1]}, n[0]);
        if (op == "zeros_like") return torch("zeros_like", "zeros_like", {x});
        return x.method(op);  // clone, detach, t, contiguous, diagonal
    }

    static Var write(const Statement& statement, const std::vector<Var>& in) {
        const std::string& op = statement.operation;
        const Var& x = in[0];
        const Var number = statement.number ? Var(*statement.number) : Var();
        if (op == "setitem") return x.withItem(indexOf(statement), in.size() > 1 ? in[1] : number);
        if (op == "setmask") return x.withItem(x > Var(0), number);
        if (op == "masked_fill_") return x.method(op, {in[1] > Var(0), number}, {}, "masked_fill_.Scalar");
        if (op == "unsqueeze_") return x.method(op, {statement.integers[0]}, {});
        if (op == "squeeze_") return x.method(op, {statement.integers[0]}, {}, "squeeze_.dim");
        if (op == "transpose_") return x.method(op, {statement.integers[0], statement.integers[1]}, {});
        if (op == "clamp_") return x.method(op, {-3.0, 3.0}, {});
        if (op == "copy_") return x.method(op, {in[1]}, {});
        if (in.size() > 1) return x.method(op, {in[1]}, {}, op + ".Tensor");
        if (statement.number) return x.method(op, {number}, {}, op + ".Scalar");
        return x.method(op);  // neg_, relu_, zero_
    }

    std::vector<Statement> m_statements;
    std::vector<std::string> m_results;
    std::vector<std::string> m_parameters;
    std::optional<Statement> m_branch;
};

}  // namespace sonde::test::programs

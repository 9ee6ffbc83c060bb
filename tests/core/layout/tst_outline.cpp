#include <QElapsedTimer>
#include <QTest>

#include "core/layout/view_state.h"
#include "tests/bench/layout_graphs.h"

namespace tst_outline {

using namespace sonde::layout;
using namespace layout_graphs;

class TestOutline : public QObject {
    Q_OBJECT

    /// Groups as text: "name(members)".
    static std::string text(const Outline& outline, GroupId id) {
        const Outline::Group& group = outline.group(id);
        const auto& graph = outline.graph();
        std::string result = group.kind == Outline::Kind::Module ? graph.scope(group.scope).qualname
                             : group.kind == Outline::Kind::Body ? "<" + graph.body(group.body).label + ">"
                                                                 : graph.expr(group.expr).op.name;
        result += "(";
        for (const Outline::Member& member : group.members) {
            if (result.back() != '(') result += " ";
            if (member.group.valid()) result += text(outline, member.group);
            else result += graph.node(graph.expr(member.expr).outputs.front()).name;
        }
        return result + ")";
    }

    static std::shared_ptr<const InternalGraph> nested() {
        GraphMaker m;
        const NodeId x = m.input("x");
        m.enter("a", "A");
        m.enter("b", "B");
        const NodeId y = m.layer("conv", "Conv", {x});
        m.leave();
        const NodeId z = m.op("Add", {y, x}, "add");
        m.leave();
        m.enter("c", "C");
        const NodeId w = m.op("Relu", {z}, "relu");
        m.leave();
        return m.done({w});
    }

    /// If with a branch that reads a captured value and calls a module inside.
    static std::shared_ptr<const InternalGraph> branching() {
        GraphMaker m;
        const NodeId x = m.input("x");
        const NodeId condition = m.op("Greater", {x}, "cond");
        m.enter("gate", "Gate");
        const NodeId result = m.op("If", {condition}, "if");
        const ExprId owner = m.graph().node(result).producer;
        const BodyId yes = m.graph().addBody(owner, "then_branch"), no = m.graph().addBody(owner, "else_branch");
        const NodeId a = m.addIn(yes, ExprKind::Apply, "Neg", "neg", {x});
        m.graph().setResult(yes, Argument::of(a));
        m.enter("inner", "Inner");
        const NodeId b = m.addIn(no, ExprKind::Apply, "Abs", "abs", {x});
        const NodeId c = m.addIn(no, ExprKind::Apply, "Sqrt", "sqrt", {b});
        m.leave();
        m.graph().setResult(no, Argument::of(c));
        m.leave();
        return m.done({result});
    }

  private slots:
    void groupsFollowScopes() {
        const Outline outline(nested());
        QCOMPARE(text(outline, outline.root()),
                 std::string("<>(x a(a.b(a.b.conv(a.b.conv.weight Conv_0)) add) c(relu))"));
        const GroupId a = outline.groupOf(ScopeId(std::size_t{1}));
        QCOMPARE(outline.group(a).exprs, 3u);
        QCOMPARE(outline.group(a).constants, 1u);
        QCOMPARE(outline.group(a).depth, 1u);
        QVERIFY(!outline.groupOf(outline.graph().rootScope()).valid());
    }

    void controlFlowOwnsItsBodies() {
        const Outline outline(branching());
        QCOMPARE(text(outline, outline.root()),
                 std::string("<>(x cond gate(If(<then_branch>(neg) <else_branch>(gate.inner(abs sqrt)))))"));
    }

    void singlesAreInlinedThroughNestedModules() {
        const Outline outline(nested());
        ViewState view;
        const auto& graph = outline.graph();
        const GroupId b = outline.groupOf(ScopeId(std::size_t{2}));
        QCOMPARE(graph.scope(outline.group(b).scope).qualname, std::string("a.b"));
        QCOMPARE(inlined(outline, view, b), graph.node(graph.findNode("Conv_0")).producer);
        QVERIFY(!inlined(outline, view, outline.groupOf(ScopeId(std::size_t{1}))).valid());
        view.hideConstants = false;
        QVERIFY(!inlined(outline, view, b).valid());
        view = {};
        view.inlineSingles = false;
        QVERIFY(!inlined(outline, view, b).valid());
    }

    void revealingOpensWhatHides() {
        const Outline outline(branching());
        const auto& graph = outline.graph();
        ViewState view;
        reveal(outline, view, graph.node(graph.findNode("sqrt")).producer);
        QCOMPARE(view.openScopes.size(), std::size_t{2});  // gate, gate.inner
        QCOMPARE(view.openExprs.size(), std::size_t{1});
        ViewState again;
        reveal(outline, again, ScopeId(std::size_t{2}));
        QCOMPARE(again.openScopes.size(), std::size_t{1});  // the scope itself stays closed
        QCOMPARE(again.openExprs.size(), std::size_t{1});
    }

    void depthOpensLevelByLevel() {
        const Outline outline(transformer(2));
        QCOMPARE(greatestDepth(outline), std::size_t{4});  // layers, 0, attn, norm
        ViewState view;
        openToDepth(outline, view, 0);
        QVERIFY(view.openScopes.empty());
        openToDepth(outline, view, 1);
        QCOMPARE(view.openScopes.size(), std::size_t{2});  // rotary, layers; embed and head are single operations
        openToDepth(outline, view, 2);
        QCOMPARE(view.openScopes.size(), std::size_t{4});
        openToDepth(outline, view, 99);
        QCOMPARE(view.openScopes.size(), std::size_t{8});
        setOpen(outline, view, outline.groupOf(*view.openScopes.begin()), false);
        QCOMPARE(view.openScopes.size(), std::size_t{7});
    }

    void scopesNestThousandsDeep() {
        GraphMaker m;
        NodeId x = m.input("x");
        for (int i = 0; i < 5000; ++i) {
            m.enter("m", "M");
            if (i % 2) x = m.op("Relu", {x});
        }
        const Outline outline(m.done({x}));
        QCOMPARE(greatestDepth(outline), std::size_t{5000});
        ViewState view;
        openToDepth(outline, view, 99'999);
        QVERIFY(isOpen(outline, view, outline.groupOf(ScopeId(std::size_t{4000}))));
    }

    static std::vector<std::size_t> runLengths(const Outline& outline) {
        std::vector<std::size_t> lengths;
        for (const Outline::Run& run : outline.runs()) lengths.push_back(run.instances.size());
        return lengths;
    }

  private slots:
    void equalBlocksInAChainAreARun() {
        const Outline outline(transformer(6));
        QCOMPARE(runLengths(outline), (std::vector<std::size_t>{6}));
        const auto& graph = outline.graph();
        const NodeId node = graph.findNode("Softmax_24");
        const std::vector<NodeId> same = outline.counterparts(node);
        QCOMPARE(same.size(), std::size_t{6});
        QCOMPARE(same.front(), node);
        for (std::size_t i = 0; i < same.size(); ++i) {
            QCOMPARE(graph.expr(graph.node(same[i]).producer).op.name, std::string("Softmax"));
            QCOMPARE(graph.scopeOf(same[i]).qualname, "layers." + std::to_string(i) + ".attn");
        }
        QVERIFY(outline.counterparts(graph.findNode("mask")).empty());
    }

    void whatDiffersIsNotFolded() {
        // Experts stand side by side: equal, but no chain.
        QVERIFY(runLengths(Outline(mixtureOfExperts(1, 6))).empty());
        for (const char* difference : {"attribute", "type", "wiring", "literal", "operator", "table", "nothing"}) {
            GraphMaker m;
            const std::string what = difference;
            NodeId x = m.input("x"), y = m.input("y");
            for (int i = 0; i < 3; ++i) {
                const bool odd = i == 2;
                m.enter("b" + std::to_string(i), "Block");
                const NodeId a = m.op(odd && what == "operator" ? "Sub" : "Add", {x, y});
                const NodeId b = m.op("Relu", {odd && what == "wiring" ? x : a});
                const NodeId c = m.op("Mul", {a, b});
                if (odd && what == "attribute")
                    m.graph().mutableExpr(m.graph().node(c).producer).attributes.set("axis", std::int64_t{1});
                if (what == "table")  // the last of 600 numbers
                    m.graph().mutableExpr(m.graph().node(c).producer).attributes.set("table", table(odd ? 8 : 7));
                if (odd && what == "type")
                    m.graph().setType(b, sonde::tensor::TypeInfo::tensor(sonde::tensor::DType::Float32));
                if (odd && what == "literal")
                    m.graph().setArguments(m.graph().node(c).producer,
                                           {Argument::of(a), Argument::of(sonde::tensor::Value::ofInt(2))});
                m.leave();
                x = c;
            }
            const std::vector<std::size_t> lengths = runLengths(Outline(m.done({x})));
            QCOMPARE(lengths, (std::vector<std::size_t>{what == "nothing" ? std::size_t{3} : std::size_t{2}}));
        }
    }

    static sonde::tensor::Tensor table(std::int64_t last) {
        std::vector<std::int64_t> numbers(600, 1);
        numbers.back() = last;
        return sonde::tensor::Tensor::of<std::int64_t>(sonde::tensor::Shape{600}, numbers);
    }

    /// Blocks with an operation each for a letter: equal letters are equal blocks.
    static std::shared_ptr<const InternalGraph> blocks(const std::string& letters) {
        GraphMaker m;
        NodeId x = m.input("x");
        for (std::size_t i = 0; i < letters.size(); ++i) {
            m.enter("b" + std::to_string(i), std::string(1, letters[i]));
            x = m.op("Add", {m.op(std::string("Op") + letters[i], {x}), x});
            m.leave();
        }
        return m.done({x});
    }

    void blocksThatRepeatInTurnAreARun() {
        struct Case {
            const char* letters;
            std::vector<std::pair<std::uint32_t, std::size_t>> runs;  // period, instances
        };
        for (const Case& test :
             {Case{"ABABAB", {{2, 3}}}, Case{"ABABABA", {{2, 3}}}, Case{"AAAAAB", {{1, 5}}},
              Case{"AABAABAAB", {{3, 3}}}, Case{"ABAB", {}}, Case{"CABCABCABDD", {{3, 3}, {1, 2}}}, Case{"ABCD", {}}}) {
            const Outline outline(blocks(test.letters));
            std::vector<std::pair<std::uint32_t, std::size_t>> runs;
            for (const Outline::Run& run : outline.runs()) runs.emplace_back(run.period, run.instances.size());
            QVERIFY2(runs == test.runs, test.letters);
        }
        const Outline outline(blocks("ABABAB"));
        const auto& graph = outline.graph();
        const std::vector<NodeId> same = outline.counterparts(graph.node(graph.findNode("OpB_2")).id);
        QCOMPARE(same.size(), std::size_t{3});
        for (std::size_t i = 0; i < 3; ++i) QCOMPARE(graph.scopeOf(same[i]).qualname, "b" + std::to_string(2 * i + 1));
    }

    void aHundredThousandOperationsAreQuick() {
        const auto graph = transformer(3400);
        QElapsedTimer timer;
        timer.start();
        const Outline outline(graph);
        const qint64 took = timer.elapsed();
        QCOMPARE(runLengths(outline), (std::vector<std::size_t>{3400}));
        qInfo("%lld ms", static_cast<long long>(took));
        QVERIFY(took < 3000);
    }
};

QTEST_GUILESS_MAIN(TestOutline)

}  // namespace tst_outline

#include "tst_outline.moc"

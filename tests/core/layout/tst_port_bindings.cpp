// Where values go into the bodies of operations and come out: by the argument's place, whoever made the graph.

#include <QtTest>

#include <set>

#include "core/document/document.h"
#include "core/layout/compose/port_bindings.h"

namespace tst_port_bindings {

using namespace sonde;
using layout::compose::entriesOf;
using layout::compose::resultsOf;

class TestPortBindings : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase();
    void aWhileLoopTakesItsStartingValues();
    void aWhileLoopGivesItsLastValues();
    void aForLoopHasACountAndNoCondition();
    void branchesGiveOneValueEach();

  private:
    using Names = std::set<std::pair<std::string, std::string>>;
    /// Bindings as the names of the outer and the inner value.
    Names names(const char* operation, bool entries) const {
        const graph::InternalGraph& graph = *m_document->graph;
        const graph::ExprId expr = graph.node(graph.findNode(operation)).producer;
        Names found;
        for (const auto& binding : entries ? entriesOf(graph, expr) : resultsOf(graph, expr))
            found.emplace(graph.node(binding.outer).name, graph.node(binding.inner).name);
        return found;
    }
    std::shared_ptr<const document::Document> m_document;
};

void TestPortBindings::initTestCase() {
    auto opened = document::open(SONDE_TEST_DATA "/models/control_flow.script.pt");
    QVERIFY2(opened.has_value(), opened ? "" : opened.error().text().c_str());
    m_document = *opened;
}

// while _3: … with _3, y1, steps = if_2, if_1, 0 before it, as the archive's source says; if_2 is the first condition,
// too.
void TestPortBindings::aWhileLoopTakesItsStartingValues() {
    QCOMPARE(names("loop", true),
             (Names{{"if_2", "loop/body/condition"}, {"if_2", "loop/body/_3"}, {"if_1", "loop/body/y1"}}));
}

// _3, y1, steps = _5, y2, steps0 at the end of each pass.
void TestPortBindings::aWhileLoopGivesItsLastValues() {
    QCOMPARE(names("loop", false),
             (Names{{"loop", "loop/body/if_1"}, {"loop_1", "loop/body/mul"}, {"loop_2", "loop/body/add"}}));
}

// for i in range(steps + 1): the count becomes no input of the body, acc0 does.
void TestPortBindings::aForLoopHasACountAndNoCondition() {
    QCOMPARE(names("loop_3", true), (Names{{"zeros_like", "loop_3/body/acc0"}}));
    QCOMPARE(names("loop_3", false), (Names{{"loop_3", "loop_3/body/if_1"}}));
}

void TestPortBindings::branchesGiveOneValueEach() {
    QCOMPARE(names("if_1", true), Names());
    QCOMPARE(names("if_1", false), (Names{{"if_1", "if_1/then/mul"}, {"if_1", "if_1/else/down"}}));
}

QTEST_APPLESS_MAIN(TestPortBindings)

}  // namespace tst_port_bindings

#include "tst_port_bindings.moc"

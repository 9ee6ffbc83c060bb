// Watch points of a model that another exporter wrote: modules' outputs are found as those modules' outputs.

#include <QtTest>

#include "core/session/session.h"
#include "tests/support/reference_sets.h"

namespace tst_exported_points {

using namespace sonde;
using session::Session;

class TestExportedPoints : public QObject {
    Q_OBJECT

    static std::string nameOf(const Session& session, graph::NodeId node) {
        return session.document()->graph->node(node).name;
    }

  private slots:
    void anotherExporterIsFoundByModule_data();
    void anotherExporterIsFoundByModule();
};

void TestExportedPoints::anotherExporterIsFoundByModule_data() {
    QTest::addColumn<QString>("from");
    QTest::addColumn<QString>("to");
    for (const QString& model : {QStringLiteral("resnet18_slim"), QStringLiteral("squeezenet1_1"),
                                 QStringLiteral("nested_containers"), QStringLiteral("shared_twice")}) {
        QTest::newRow(qPrintable(model + ": onnx, trace")) << model + ".onnx" << model + ".trace.pt";
        QTest::newRow(qPrintable(model + ": script, trace")) << model + ".script.pt" << model + ".trace.pt";
    }
}

/// Every module's output is found as that module's output: the calls that both files have.
void TestExportedPoints::anotherExporterIsFoundByModule() {
    QFETCH(const QString, from);
    QFETCH(const QString, to);
    const QString folder = test::referenceModels() + '/';
    for (const QString& file : {from, to}) SONDE_NEEDS_SET("models", folder + file);
    Session session;
    QVERIFY(session.open((folder + from).toStdString()));
    Session other;
    QVERIFY(other.open((folder + to).toStdString()));
    std::vector<std::string> modules;
    for (const graph::ModuleInfo& module : session.document()->modules->modules()) {
        const std::string output = module.qualname + ":";
        const auto node = session.document()->findNode(output);
        if (module.qualname.empty() || !node || !other.document()->findNode(output)) continue;
        // What a container returns is what its last module does.
        const auto& producer = session.document()->graph->expr(session.document()->graph->node(*node).producer);
        if (producer.qualname != module.qualname) continue;
        session.setWatched(*node, true);
        modules.push_back(output);
    }
    QVERIFY(modules.size() > 3);
    session.show(other.document());
    std::size_t found = 0;
    for (std::size_t i = 0; i < modules.size(); ++i) {
        const session::PointSet::Entry& entry = session.points().watched.entries()[i];
        if (!entry.node.valid()) continue;
        ++found;
        QCOMPARE(nameOf(session, entry.node), nameOf(session, *other.document()->findNode(modules[i])));
    }
    QVERIFY2(found * 100 >= modules.size() * 95, qPrintable(QStringLiteral("%1 of %2").arg(found).arg(modules.size())));
}

QTEST_GUILESS_MAIN(TestExportedPoints)

}  // namespace tst_exported_points

#include "tst_exported_points.moc"

// Opening ends in a tree, a table and a picture whatever becomes of the layout helper, and while pieces are laid out
// the last good picture stays. The helper of these tests is a script that works, hangs, dies or is gone.

#include <QElapsedTimer>
#include <QFile>
#include <QTableView>
#include <QTreeView>

#include <csignal>
#include <map>

#include "tests/support/window_fixture.h"
#include "ui/canvas/layout_service.h"
#include "ui/panels/module_tree/module_tree_panel.h"
#include "ui/panels/node_table/node_table_panel.h"

namespace tst_opening {

using namespace sonde;
using layout::ItemKind;

class TestOpening : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        prepare();
        qputenv("XDG_CACHE_HOME", m_folder.path().toUtf8());  // no pictures of an earlier run
        qputenv("SONDE_LAYOUT_WORKER", m_folder.filePath(QStringLiteral("helper")).toUtf8());
        useHelper("works");
    }
    void cleanup() { closeWindow(); }
    void opensWhateverTheHelperDoes_data();
    void opensWhateverTheHelperDoes();
    void theLastPictureStaysWhilePiecesAreLaidOut();

  private:
    void useHelper(const QByteArray& kind) {
        QFile file(m_folder.filePath(QStringLiteral("helper")));
        file.remove();
        if (kind != "gone") {
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write("#!/bin/sh\n" + (kind == "hangs" ? QByteArray("exec sleep 600\n")
                                        : kind == "dies"
                                            ? QByteArray("exit 1\n")
                                            : QByteArray("exec '" SONDE_BINARY_DIR "/sonde-layout-worker' \"$@\"\n")));
            file.close();
            QVERIFY(file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        }
        for (const int id : canvas::LayoutService::instance().workers.processIds()) ::kill(id, SIGKILL);
    }
    int rowsOfTree() {
        return qobject_cast<panels::ModuleTreePanel*>(m_window->docks().panel(QStringLiteral("modules")))
            ->view()
            ->model()
            ->rowCount();
    }
    int rowsOfTable() {
        return qobject_cast<panels::NodeTablePanel*>(m_window->docks().panel(QStringLiteral("nodes")))
            ->view()
            ->model()
            ->rowCount();
    }

    QTemporaryDir m_folder;
};

void TestOpening::opensWhateverTheHelperDoes_data() {
    QTest::addColumn<QByteArray>("helper");
    QTest::addColumn<QString>("model");
    // Each model once, so that nothing is in the cache; none is a mere chain, which needs no helper.
    QTest::addRow("works") << QByteArray("works") << file("gpt_mini.onnx");
    QTest::addRow("hangs") << QByteArray("hangs") << file("control_flow.onnx");
    QTest::addRow("dies") << QByteArray("dies") << file("lstm_classifier.script.pt");
    QTest::addRow("gone") << QByteArray("gone") << file("nested_containers.script.pt");
}

void TestOpening::opensWhateverTheHelperDoes() {
    QFETCH(QByteArray, helper);
    QFETCH(QString, model);
    useHelper(helper);
    openWindow();
    open(model);
    const auto scene = canvas()->view().scene();
    QVERIFY(scene);
    QVERIFY(scene->items.size() > 5);
    QVERIFY(!canvas()->view().visibleItems().empty());
    QVERIFY(rowsOfTree() > 0);
    QVERIFY(rowsOfTable() > 5);
    // Who draws otherwise says so; on a busy machine the time of a helper that works may end, too.
    if (helper != "works") QVERIFY(!scene->notes.empty());
    else
        for (const std::string& note : scene->notes)
            QVERIFY2(note.find("did not end within") != std::string::npos, note.c_str());
}

void TestOpening::theLastPictureStaysWhilePiecesAreLaidOut() {
    useHelper("works");
    openWindow();
    // Many modules: of a small model the first view has laid out all levels already.
    open(QStringLiteral("zoo:densenet121"));
    const auto before = canvas()->view().scene();
    // The notice that it takes long stands over the uppermost part.
    const QRect part = canvas()->rect().adjusted(0, 80, 0, 0);
    const QImage picture = canvas()->grab(part).toImage();
    useHelper("hangs");
    context().canvases().active().expandToDepth(9);
    int seen = 0, partial = 0;
    auto last = before;
    while (!m_window->isIdle()) {
        QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
        QVERIFY(canvas()->view().scene());
        if (canvas()->view().scene() == before) {
            QCOMPARE(canvas()->grab(part).toImage(), picture);
            ++seen;
        } else if (canvas()->view().scene() != last) {
            last = canvas()->view().scene();
            ++partial;
            QVERIFY(last->items.size() > before->items.size());
            QVERIFY(!canvas()->view().visibleItems().empty());
        }
    }
    QVERIFY2(seen > 0, qPrintable(QString::number(partial)));  // it did take a while
    QVERIFY2(partial > 1, qPrintable(QString::number(seen)));  // and nobody waited until all was there
    QVERIFY(!canvas()->view().scene()->notes.empty());
}

QTEST_MAIN(TestOpening)

}  // namespace tst_opening

#include "tst_opening.moc"

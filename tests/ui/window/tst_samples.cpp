// The samples as a new user meets them: a click on the start page, and their outputs say something.

#include <QAbstractButton>
#include <QAction>
#include <QDockWidget>
#include <QTableView>

#include "tests/support/window_fixture.h"
#include "ui/panels/outputs/output_view.h"
#include "ui/panels/outputs/outputs_panel.h"
#include "ui/window/samples.h"
#include "ui/window/script.h"
#include "ui/window/start_page.h"

namespace tst_samples {

using namespace sonde;

class TestSamples : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
    }
    void cleanup() { closeWindow(); }

    void theFilesOfAllAreThere() {
        QStringList ids;
        for (const window::Sample& sample : window::samples()) {
            ids << sample.id;
            QVERIFY(!sample.description.isEmpty() && !sample.next.isEmpty());
            auto* const shown = button(sample.id);
            QVERIFY2(shown, qPrintable(sample.id));
            QVERIFY2(!shown->icon().isNull(), qPrintable(sample.id));
        }
        QCOMPARE(ids, (QStringList{"digits", "words", "text-direction", "voice", "resnet18", "find-the-nan"}));
    }

    void aClickShowsWhatItSays_data() {
        QTest::addColumn<QString>("form");
        QTest::addColumn<QString>("first");
        QTest::newRow("digits") << "Auto: Classes"
                                << "three";
        QTest::newRow("words") << "Auto: Text"
                               << "e";  // house
        QTest::newRow("text-direction") << "Auto: Classes"
                                        << "upside down";
        QTest::newRow("voice") << "Auto: Number"
                               << "";
    }
    void aClickShowsWhatItSays() {
        QFETCH(QString, form);
        QFETCH(QString, first);
        auto* const page = m_window->findChild<window::StartPage*>();
        QVERIFY(page->isVisible());
        QSignalSpy finished(&context().runs(), &context::Runs::runFinished);
        auto* const chosen = button(QLatin1String(QTest::currentDataTag()));
        QVERIFY(chosen);
        QTest::mouseClick(chosen, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!finished.isEmpty(), 60000);
        settle();
        QVERIFY(!page->isVisible());
        QCOMPARE(context().runs().state(), context::RunState::Finished);
        for (const context::ModelInput& input : context().inputs().all())
            QVERIFY2(input.value && !input.error, qPrintable(input.name));
        QTRY_VERIFY(!m_window->docks().dock(QStringLiteral("outputs"))->isHidden());
        QCOMPARE(panel().formBox()->currentText(), form);
        if (!first.isEmpty()) QVERIFY2(cell(0, 0).startsWith(first), qPrintable(cell(0, 0)));
        QVERIFY2(!panel().notes().contains(QLatin1String("random")), qPrintable(panel().notes()));
    }

    /// Opened by name it has its input, but waits; what was given before stays.
    void openedByNameItKeepsWhatWasGiven() {
        const QString model = window::resourcePath(QStringLiteral("samples/digits/digits.onnx"));
        open(model);
        QVERIFY(context().inputs().all().front().spec.source.startsWith(QLatin1String("#draw(white|")));
        QCOMPARE(context().runs().state(), context::RunState::NotRun);
        context::InputSpec spec;
        spec.source = QStringLiteral("#rand(0,0,1,1,28,28)");
        context().inputs().setSpec(QStringLiteral("image"), spec);
        settle();
        m_window->actions().action(QStringLiteral("file.close"))->trigger();
        settle();
        open(model);
        QCOMPARE(context().inputs().all().front().spec.source, spec.source);
    }

    /// A trained sample runs with each change until another model is opened, whatever the user has switched on before.
    void trainedOnesAreLive() {
        QVERIFY(!context().runs().isLive());
        QCOMPARE(play(QStringLiteral("sample digits\ninput image #draw(white|79,280,200,720,200,430,800) unit")),
                 QString());
        QVERIFY(context().runs().isLive() && !context().runs().isLiveWanted());
        QTRY_COMPARE(cell(0, 0), QString("seven"));
        open(QStringLiteral("zoo:mlp_functional"));
        QVERIFY(!context().runs().isLive());
        context().runs().setLive(true);
        QCOMPARE(play(QStringLiteral("sample words")), QString());
        open(QStringLiteral("zoo:mlp_functional"));
        QVERIFY(context().runs().isLive() && context().runs().isLiveWanted());
        QCOMPARE(play(QStringLiteral("sample digits")), QString());
        context().runs().setLive(false);  // now it is the user who said so
        QVERIFY(!context().runs().isLive());
    }

    /// No number is cut off when a later run gives longer ones; a column that the user has made narrow stays so.
    void columnsFitTheNumbersOfLaterRuns() {
        QCOMPARE(play(QStringLiteral("sample digits")), QString());
        QTableView* const list = panel().view()->list();
        list->setColumnWidth(3, 31);
        QCOMPARE(play(QStringLiteral("input image #draw(white|79,280,200,720,200,430,800) unit")), QString());
        QTRY_COMPARE(cell(0, 0), QString("seven"));
        QVERIFY(cell(1, 2).size() > 7);  // 0.0738953
        QVERIFY(list->columnWidth(2) >= static_cast<QAbstractItemView*>(list)->sizeHintForColumn(2));
        QCOMPARE(list->columnWidth(3), 31);
    }

    /// The outputs have their room also where the column is low.
    void outputsHaveRoomInALowWindow() {
        m_window->resize(1280, 720);
        QCOMPARE(play(QStringLiteral("sample digits")), QString());
        QTableView* const list = panel().view()->list();
        const int shown = list->viewport()->height() / list->rowHeight(0);
        QVERIFY2(shown >= 3, qPrintable(QString::number(shown)));
    }

    void scriptsOpenThem() {
        QCOMPARE(play(QStringLiteral("sample digits")), QString());
        QCOMPARE(cell(0, 0), QString("three"));
        const QString refused = play(QStringLiteral("sample digit"));
        QVERIFY2(refused.startsWith(QLatin1String("there is no sample 'digit'")), qPrintable(refused));
    }

  private:
    QAbstractButton* button(const QString& id) {
        return m_window->findChild<window::StartPage*>()->findChild<QAbstractButton*>(QStringLiteral("sample-") + id);
    }
    panels::OutputsPanel& panel() {
        return *qobject_cast<panels::OutputsPanel*>(m_window->docks().panel(QStringLiteral("outputs")));
    }
    QString cell(int row, int column) { return panel().view()->list()->model()->index(row, column).data().toString(); }
    QString play(const QString& text) {
        window::Script script(*m_window, {}, text, {});
        QSignalSpy finished(&script, &window::Script::finished);
        script.start();
        if (finished.isEmpty() && !finished.wait(60000)) return QStringLiteral("not finished");
        settle();
        return script.error() ? QString::fromStdString(script.error()->what) : QString();
    }
};

QTEST_MAIN(TestSamples)

}  // namespace tst_samples

#include "tst_samples.moc"

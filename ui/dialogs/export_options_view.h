#pragma once

#include <QWidget>

#include <functional>
#include <vector>

#include "core/export/export_choice.h"

class QLabel;
class QVBoxLayout;

namespace sonde::dialogs {

/// The options of a format in their groups, each with a control and what it does. Made of exporting::exportOptions().
class ExportOptionsView : public QWidget {
    Q_OBJECT
  public:
    explicit ExportOptionsView(QWidget* parent = nullptr);

    /// Shows a choice; the controls are made anew where the format is another one. Tells nobody.
    void show(const exporting::ExportChoice& choice);
    const exporting::ExportChoice& choice() const { return m_choice; }
    /// What --input-data of the session's inputs is, for test cases.
    void setInputData(const QString& spec) { m_inputData = spec; }
    /// Whether all that is typed is valid.
    bool isValid() const;

  Q_SIGNALS:
    /// An option was given another value.
    void changed();
    /// What is typed became valid, or is no longer.
    void validityChanged();

  private:
    /// One option on the screen.
    struct Row {
        const exporting::ExportOption* option = nullptr;
        std::vector<QWidget*> controls;
        QLabel* description = nullptr;
        std::function<void(const QString& text)> set;
        QString wrong;  ///< why what is typed is not taken
    };

    void build();
    void orderTabs();
    Row makeRow(const exporting::ExportOption& option, QVBoxLayout& column);
    QWidget* makeSwitch(Row& row);
    QWidget* makeChoice(Row& row);
    QWidget* makeText(Row& row);
    QWidget* makeLines(Row& row);
    void take(const exporting::ExportOption& option, const QString& text);
    void refresh();
    void describe(const Row& row) const;

    exporting::ExportChoice m_choice;
    std::vector<Row> m_rows;
    QWidget* m_content = nullptr;
    QString m_inputData;
    bool m_showing = false;
};

}  // namespace sonde::dialogs

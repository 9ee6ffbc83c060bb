#pragma once

#include <QVariant>
#include <QWidget>

#include "ui/widgets/labels.h"

class QGridLayout;
class QToolButton;
class QVBoxLayout;

namespace sonde::widgets {

/// A heading that opens and closes what is under it: click, Return or Space; Left closes and Right opens.
class CollapsibleSection : public QWidget {
    Q_OBJECT
  public:
    explicit CollapsibleSection(const QString& title, QWidget* parent = nullptr);

    void setTitle(const QString& title);
    /// Shown after the title, muted: "Attributes 5". -1 for none.
    void setCount(int count);
    /// Takes the widget over; one that was there before is deleted.
    void setContent(QWidget* content);
    QWidget* content() const { return m_content; }
    bool isExpanded() const { return m_expanded; }
    void setExpanded(bool expanded);

  Q_SIGNALS:
    void expandedChanged(bool expanded);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void refresh();

    QToolButton* m_header;
    QVBoxLayout* m_layout;
    QWidget* m_content = nullptr;
    QString m_title;
    int m_count = -1;
    bool m_expanded = true;
};

/// Names on the left, what they stand for on the right; the columns line up with those of every other grid of the same
/// key width. Values can be selected and copied; links lead to other things.
class KeyValueGrid : public QWidget {
    Q_OBJECT
  public:
    explicit KeyValueGrid(QWidget* parent = nullptr);

    void clear();
    void addRow(const QString& key, const QString& value, bool monospaced = false);
    void addLink(const QString& key, const QString& text, const QVariant& target, const QString& note = {});
    void addWidget(const QString& key, QWidget* value);
    int rowCount() const { return m_rows; }
    void setKeyWidth(int pixels);
    /// "key<TAB>value" lines of every row.
    QString text() const;

  Q_SIGNALS:
    void linkActivated(const QVariant& target);

  private:
    void addKey(const QString& key);

    QGridLayout* m_grid;
    QStringList m_lines;
    int m_rows = 0;
};

}  // namespace sonde::widgets

//! From the names of tables and columns to the words of people: split, expanded, singular and plural, synonyms.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What the usual short forms in names stand for.
const ABBREVIATIONS: &[(&str, &str)] = &[
    ("acct", "account"),
    ("addr", "address"),
    ("amt", "amount"),
    ("apt", "apartment"),
    ("avg", "average"),
    ("bal", "balance"),
    ("bldg", "building"),
    ("cat", "category"),
    ("cnt", "count"),
    ("crs", "course"),
    ("ctry", "country"),
    ("cust", "customer"),
    ("dept", "department"),
    ("desc", "description"),
    ("descr", "description"),
    ("dob", "date of birth"),
    ("dt", "date"),
    ("emp", "employee"),
    ("fk", ""),
    ("fname", "first name"),
    ("hrs", "hours"),
    ("inst", "institution"),
    ("inv", "invoice"),
    ("lat", "latitude"),
    ("lname", "last name"),
    ("lng", "longitude"),
    ("loc", "location"),
    ("lon", "longitude"),
    ("long", "longitude"),
    ("mgr", "manager"),
    ("mth", "month"),
    ("nbr", "number"),
    ("nm", "name"),
    ("num", "number"),
    ("ord", "order"),
    ("org", "organization"),
    ("pos", "position"),
    ("pct", "percent"),
    ("pmt", "payment"),
    ("prod", "product"),
    ("prof", "professor"),
    ("qty", "quantity"),
    ("sal", "salary"),
    ("stu", "student"),
    ("subcat", "subcategory"),
    ("tbl", ""),
    ("tel", "telephone"),
    ("temp", "temperature"),
    ("tot", "total"),
    ("trans", "transaction"),
    ("trx", "transaction"),
    ("txn", "transaction"),
    ("yr", "year"),
];

/// Words that do not follow the rules of plurals.
const IRREGULAR: &[(&str, &str)] = &[
    ("people", "person"),
    ("salespeople", "salesperson"),
    ("men", "man"),
    ("women", "woman"),
    ("children", "child"),
    ("staff", "staff"),
    ("sales", "sales"),
    ("series", "series"),
    ("data", "data"),
    ("media", "media"),
    ("status", "status"),
    ("movies", "movie"),
    ("indices", "index"),
    ("matrices", "matrix"),
    ("analyses", "analysis"),
    ("addresses", "address"),
    ("classes", "class"),
    ("businesses", "business"),
    ("buses", "bus"),
    ("houses", "house"),
    ("courses", "course"),
    ("purchases", "purchase"),
    ("warehouses", "warehouse"),
    ("expenses", "expense"),
    ("responses", "response"),
    ("licenses", "license"),
    ("leaves", "leave"),
    ("news", "news"),
    ("goods", "goods"),
];

struct Entry {
    english: Vec<&'static str>,
    chinese: Vec<&'static str>,
}

/// Words of business with what else they are called; one line a word.
static LEXICON: LazyLock<HashMap<&'static str, Entry>> = LazyLock::new(|| {
    let words = |cell: Option<&'static str>| {
        cell.unwrap_or("")
            .split('|')
            .map(str::trim)
            .filter(|w| !w.is_empty())
            .collect()
    };
    include_str!("lexicon.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let mut cells = line.split('\t');
            let word = cells.next()?;
            Some((
                word,
                Entry {
                    english: words(cells.next()),
                    chinese: words(cells.next()),
                },
            ))
        })
        .collect()
});

/// The words of a name, in lower case: `OrderDate`, `order_date` and `ORDER DATE` are all `[order, date]`.
pub fn split(name: &str) -> Vec<String> {
    let characters: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for (at, &character) in characters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|i| characters.get(i)).copied();
        let after = characters.get(at + 1).copied();
        let starts_word = character.is_uppercase()
            && before.is_some_and(|b| {
                b.is_lowercase() || b.is_ascii_digit() || (b.is_uppercase() && after.is_some_and(char::is_lowercase))
            });
        if !character.is_alphanumeric() || starts_word {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
    }
    words.push(word);
    words.retain(|w| !w.is_empty());
    words
}

/// `Order Details` → `order_details`: how datasets and fields are named.
pub fn snake(name: &str) -> String {
    let joined = split(name).join("_");
    match joined.is_empty() {
        true => name.to_owned(),
        false => joined,
    }
}

/// The name as people read it, short forms written out: `cust_nm` → `customer name`.
pub fn readable(name: &str) -> String {
    let words: Vec<String> = split(name)
        .into_iter()
        .map(|word| match ABBREVIATIONS.iter().find(|(short, _)| *short == word) {
            Some((_, long)) => (*long).to_owned(),
            None => word,
        })
        .filter(|word| !word.is_empty())
        .collect();
    match words.is_empty() {
        true => name.to_owned(),
        false => words.join(" "),
    }
}

/// One of them: the last word in the singular (`order details` → `order detail`).
pub fn singular(phrase: &str) -> String {
    on_last_word(phrase, singular_word)
}

/// Many of them: the last word in the plural.
pub fn plural(phrase: &str) -> String {
    on_last_word(phrase, plural_word)
}

fn on_last_word(phrase: &str, change: impl Fn(&str) -> String) -> String {
    match phrase.rsplit_once([' ', '_']) {
        Some((head, last)) => {
            let mark = phrase.get(head.len()..head.len() + 1).unwrap_or(" ");
            format!("{head}{mark}{}", change(last))
        }
        None => change(phrase),
    }
}

fn singular_word(word: &str) -> String {
    if let Some((_, one)) = IRREGULAR.iter().find(|(many, _)| *many == word) {
        return (*one).to_owned();
    }
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    // "Campuses", "viruses"; not "houses", "causes", "excuses".
    let latin = |stem: &&str| stem.len() > 2 && !["o", "a", "e", "c", "f"].iter().any(|e| stem.ends_with(e));
    if let Some(stem) = word.strip_suffix("uses").filter(latin) {
        return format!("{stem}us");
    }
    let hissing = ["sses", "xes", "ches", "shes", "zes"];
    if hissing.iter().any(|ending| word.ends_with(ending)) {
        return word.strip_suffix("es").unwrap_or(word).to_owned();
    }
    let is_plural = word.len() > 3 && word.ends_with('s') && !["ss", "us", "is"].iter().any(|e| word.ends_with(e));
    match is_plural {
        true => word.strip_suffix('s').unwrap_or(word).to_owned(),
        false => word.to_owned(),
    }
}

fn plural_word(word: &str) -> String {
    if let Some((many, _)) = IRREGULAR.iter().find(|(many, one)| *one == word || *many == word) {
        return (*many).to_owned();
    }
    if singular_word(word) != word || !word.is_ascii() {
        return word.to_owned();
    }
    let vowel_y = ["ay", "ey", "oy", "uy"].iter().any(|e| word.ends_with(e));
    if let Some(stem) = word.strip_suffix('y').filter(|_| !vowel_y) {
        return format!("{stem}ies");
    }
    let hissing = ["s", "x", "ch", "sh", "z"].iter().any(|e| word.ends_with(e));
    match hissing {
        true => format!("{word}es"),
        false => format!("{word}s"),
    }
}

/// Other English words for a readable name; the last word of a longer one is replaced as well (`store manager`).
pub fn english(readable: &str) -> Vec<String> {
    let one = singular(readable);
    let mut found: Vec<String> = Vec::new();
    let mut add = |word: String| {
        if word != readable && !found.contains(&word) {
            found.push(word);
        }
    };
    add(one.clone());
    if let Some(entry) = LEXICON.get(one.as_str()) {
        entry.english.iter().for_each(|word| add((*word).to_owned()));
    }
    found
}

/// The Chinese words for a readable name, the usual one first; a name of several known words is put together.
pub fn chinese(readable: &str) -> Vec<String> {
    let one = singular(readable);
    if let Some(entry) = LEXICON.get(readable).or_else(|| LEXICON.get(one.as_str())) {
        return entry.chinese.iter().map(|word| (*word).to_owned()).collect();
    }
    let first = |word: &str| {
        LEXICON
            .get(singular_word(word).as_str())
            .and_then(|e| e.chinese.first().copied())
    };
    let parts: Option<Vec<&str>> = readable.split(' ').map(first).collect();
    match parts {
        Some(parts) if parts.len() == 2 => vec![parts.concat()],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("OrderDate", "order date")]
    #[case("order_date", "order date")]
    #[case("SupportRepId", "support rep id")]
    #[case("EmployeeID", "employee id")]
    #[case("Order Details", "order details")]
    #[case("qty", "quantity")]
    #[case("cust_nm", "customer name")]
    #[case("HTTPStatus2xx", "http status2xx")]
    #[case("客户", "客户")]
    #[case("%", "%")]
    fn a_name_reads_as_words(#[case] name: &str, #[case] expected: &str) {
        assert_eq!(readable(name), expected);
    }

    #[rstest]
    #[case("categories", "category")]
    #[case("addresses", "address")]
    #[case("order details", "order detail")]
    #[case("staff", "staff")]
    #[case("status", "status")]
    #[case("boxes", "box")]
    #[case("campuses", "campus")]
    #[case("viruses", "virus")]
    #[case("causes", "cause")]
    #[case("warehouses", "warehouse")]
    #[case("movies", "movie")]
    #[case("bus", "bus")]
    fn plurals_have_a_singular(#[case] many: &str, #[case] one: &str) {
        assert_eq!(singular(many), one);
    }

    #[rstest]
    #[case("category", "categories")]
    #[case("payment", "payments")]
    #[case("orders", "orders")]
    #[case("staff", "staff")]
    #[case("order_item", "order_items")]
    fn singulars_have_a_plural(#[case] one: &str, #[case] many: &str) {
        assert_eq!(plural(one), many);
    }

    #[test]
    fn staff_and_employees_answer_to_each_other_in_both_languages() {
        assert!(english("staff").contains(&"employee".to_owned()));
        assert!(english("employees").contains(&"staff".to_owned()));
        assert_eq!(chinese("employees").first().map(String::as_str), Some("员工"));
        assert_eq!(chinese("order status"), vec!["订单状态".to_owned()]);
    }
}
